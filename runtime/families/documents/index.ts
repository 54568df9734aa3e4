// The family of documents: rows of older shapes are brought up by one process at a time, behind all that is asked.
import { familyOf, hourly } from "../../operations/family.js";
import type { PeriodicJob } from "../../operations/periodic.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";

/** Rows that one batch looks at: writers wait for it on SQLite. */
const batchSize = 200;

export const documentsFamily = familyOf<readonly DocumentDeclaration[]>()({
  member: "documents",
  jobs: (documents) => documents.filter(({ shape }) => shape.steps.length > 0).map(renewal),
});

/** Walks over the rows of a type until a whole walk has found none of an older shape. */
function renewal(spec: DocumentDeclaration): PeriodicJob {
  let after: readonly (string | number)[] = [];
  let renewed = 0;
  let isDone = false;
  return hourly(`documents.${spec.table}.shape`, async (transaction) => {
    if (isDone) return false;
    const step = await transaction.of(documentStore).renew(spec, after, batchSize);
    renewed += step.renewed;
    after = step.next ?? [];
    if (step.next !== null) return true;
    isDone = renewed === 0;
    renewed = 0;
    return !isDone;
  });
}
