// The TypeScript types that the spec of documents carries: `document<{ document: Task; … }>`.
import type { DocumentModel } from "../../model/document-model.js";
import { queryTypeNames } from "./queries/query-type-names.js";

/** Types by what they are of; what is left out is `unknown`. */
type CarriedTypes = Readonly<Record<string, string>>;

/** Names of the types of documents as they are read and queried. */
export function readTypes({ name, typeName, readTypeName }: DocumentModel): CarriedTypes {
  const { filter, sorts } = queryTypeNames(name);
  const expanded = readTypeName === typeName ? {} : { expanded: readTypeName };
  return { document: typeName, filter, sorts, ...expanded };
}

/** The same with those of payloads, where there are some. */
export function carriedTypes(document: DocumentModel, isWritable: boolean): CarriedTypes {
  const { createTypeName: create, patchTypeName: patch } = document;
  const { document: whole = "unknown", ...asked } = readTypes(document);
  return { document: whole, ...(isWritable ? { create, patch } : {}), ...asked };
}

/** The types of a spec, whose payloads have in handlers what no caller's has. */
export function withHandled(types: CarriedTypes, handled: string): CarriedTypes {
  return Object.fromEntries(
    Object.entries(types).map(([of, type]) => [
      of,
      of === "create" || of === "patch" ? `${type} & ${handled}` : type,
    ]),
  );
}

/** `before<{`, a line for each type, and `}>after`. */
export function typesLayout(before: string, types: CarriedTypes, after: string): string {
  const lines = Object.entries(types).map(([of, type]) => `  ${of}: ${type};`);
  return [`${before}<{`, ...lines, `}>${after}`].join("\n");
}
