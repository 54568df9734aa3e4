// All that is kept of documents, as sets of lines.
import type { AnyDataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { deletionSet } from "./data-deletions.js";
import { numberSet } from "./data-numbers.js";
import { revisionSet } from "./data-revisions.js";
import { documentSet } from "./data-set.js";

/** The sets of all types: those that others refer to first, as far as they don't in a circle. */
export function dataOfDocuments(
  documents: readonly AnyDocumentSpec[],
  service: ServiceAtWork,
): readonly AnyDataSet[] {
  return targetsFirst(documents).flatMap((spec) => [
    documentSet(spec, service),
    ...(spec.numbers === undefined ? [] : [numberSet(spec, service)]),
    ...(spec.history === 0 ? [] : [revisionSet(spec, service)]),
    ...(spec.undoes === true ? [deletionSet(spec, documents, service)] : []),
  ]);
}

function targetsFirst(documents: readonly AnyDocumentSpec[]): readonly AnyDocumentSpec[] {
  const placed = new Set<AnyDocumentSpec>();
  const begun = new Set<string>();
  const place = (spec: AnyDocumentSpec): void => {
    if (begun.has(spec.name)) return;
    begun.add(spec.name);
    for (const targetOf of Object.values(spec.references ?? {})) {
      const { name } = targetOf();
      const target = documents.find((one) => one.name === name);
      if (target !== undefined) place(target);
    }
    placed.add(spec);
  };
  for (const spec of documents) place(spec);
  return [...placed];
}
