// The family of documents: which shapes processes that live have, and rows of older shapes stored anew once none has those.
import { createHash } from "node:crypto";
import { shapeNumber } from "../../contract/shapes.js";
import { familyOf } from "../../operations/family.js";
import type { PeriodicJob } from "../../operations/periodic.js";
import type { Transaction } from "../../ports/database.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";

/** Rows that one batch looks at: writers wait for it on SQLite. */
const batchSize = 200;
/** How often the processes of a version say that they live, and how long that counts, in milliseconds. */
const aliveEveryMillis = 60_000;
const aliveMillis = 5 * aliveEveryMillis;

export const documentsFamily = familyOf<readonly DocumentDeclaration[]>()({
  member: "documents",
  jobs: (documents) => [
    presence(documents),
    ...documents.filter(({ shape }) => shape.steps.length > 0).map(renewal),
  ],
});

/**
 * The lease on the shape of a type, which all processes of one version hold together. While those of an older version live it
 * is theirs: what a newer one has dropped is still answered by them.
 */
async function holdsShape(spec: DocumentDeclaration, { leases }: Transaction): Promise<boolean> {
  const now = Date.now();
  const holder = `shape ${shapeNumber(spec.shape)}`;
  return (await leases.take(`documents.${spec.table}`, holder, now, now + aliveMillis)) !== null;
}

/** One process of each version says for all of them that they live. */
function presence(documents: readonly DocumentDeclaration[]): PeriodicJob {
  const shapes = documents.map(({ table, shape }) => `${table} ${shapeNumber(shape)}`);
  const version = createHash("sha256").update(shapes.join("\n")).digest("hex").slice(0, 16);
  return {
    name: `documents.shapes.${version}`,
    everyMillis: aliveEveryMillis,
    async batch(transaction) {
      for (const spec of documents) await holdsShape(spec, transaction);
      return false;
    },
  };
}

/** Walks over the rows of a type until a whole walk has found none of an older shape. */
function renewal(spec: DocumentDeclaration): PeriodicJob {
  let after: readonly (string | number)[] = [];
  let renewed = 0;
  let isDone = false;
  return {
    name: `documents.${spec.table}.renewal`,
    everyMillis: aliveMillis,
    async batch(transaction) {
      if (isDone || !(await holdsShape(spec, transaction))) return false;
      const step = await transaction.of(documentStore).renew(spec, after, batchSize);
      renewed += step.renewed;
      after = step.next ?? [];
      if (step.next !== null) return true;
      isDone = renewed === 0;
      renewed = 0;
      return !isDone;
    },
  };
}
