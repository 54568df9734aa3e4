// The types that follow from a document: its own, and those that families derive from it.
import { families } from "../families/index.js";
import type { DocumentModel } from "../model/document-model.js";

/** Types whose names follow from a document's, in an order. */
export function typesOf(document: DocumentModel | undefined): readonly string[] {
  if (document === undefined) return [];
  return [document.typeName, ...derivedTypes(document).map(([type]) => type)];
}

/** Types that are made of a document's own type, with the field that each is about. */
export function derivedTypes(
  document: DocumentModel,
): readonly (readonly [string, string | null])[] {
  return families
    .flatMap((family) => family.derived(document))
    .filter(([type]) => type !== document.typeName);
}
