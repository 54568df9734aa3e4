// Writes of many documents in few statements, where nothing that was found stands against them.
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { holdCounters, giveNumbers, type UnstoredDocument } from "./numbers.js";
import { checkClaims, claimRanges, holdClaims, newClaims, type RangeChange } from "./ranges.js";
import { checkAllWithinScope } from "./scoped.js";

/** Holds the counters and the ranges of new documents, in one order. */
export async function holdTogether(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  made: readonly UnstoredDocument[],
): Promise<void> {
  const changes = made.map(({ stored }) => ({ before: null, after: stored }));
  await holdClaims(spec, context, newClaims(spec, changes));
  await holdCounters(spec, context, made);
}

/**
 * Holds documents that are about to be changed, and then the ranges that they are about to have,
 * each in one order.
 */
export async function holdChanged(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  ids: readonly string[],
  changesOf: () => Promise<readonly RangeChange[]>,
): Promise<void> {
  if (spec.noOverlap === undefined) return;
  await context.transaction.of(documentStore).lock(spec, context.tenant, ids);
  await holdClaims(spec, context, newClaims(spec, await changesOf()));
}

/** Adds new documents, and gives them as they are stored: with their numbers. */
export async function insertTogether(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  made: readonly UnstoredDocument[],
): Promise<readonly StoredDocument[]> {
  if (made.length === 0) return [];
  const changes = made.map(({ stored }) => ({ before: null, after: stored }));
  // In the order of `createDocument`, so that the two don't wait for each other.
  const claims = await claimRanges(spec, context, changes);
  const documents = (await giveNumbers(spec, context, made)).map(({ stored }) => stored);
  await context.transaction.of(documentStore).insertMany(spec, context.tenant, documents);
  await checkAllWithinScope(spec, context, documents);
  await checkClaims(spec, context, claims);
  return documents;
}

type Change = { readonly before: StoredDocument; readonly after: StoredDocument };

/** Replaces documents; those that it replaced, by id. */
export async function replaceTogether(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  changes: readonly (Change | null)[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const all = changes.filter((change) => change !== null);
  if (all.length === 0) return new Map();
  const claims = await claimRanges(spec, context, all);
  const store = context.transaction.of(documentStore);
  const ids = await store.replaceMany(
    spec,
    context.tenant,
    all.map(({ before, after }) => ({ expectedRev: before.rev, document: after })),
  );
  const documents = all.flatMap(({ after }) => (ids.has(after.id) ? [after] : []));
  await checkAllWithinScope(spec, context, documents);
  await checkClaims(
    spec,
    context,
    claims.filter(({ id }) => ids.has(id)),
  );
  return new Map(documents.map((document) => [document.id, document]));
}

/** Removes documents for good; those that it removed, as they were, by id. */
export async function removeTogether(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: readonly (StoredDocument | null)[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const all = current.filter((stored) => stored !== null);
  if (all.length === 0) return new Map();
  const gone = all.map(({ id, rev }) => ({ id, expectedRev: rev }));
  const ids = await context.transaction.of(documentStore).removeMany(spec, context.tenant, gone);
  return new Map(all.filter(({ id }) => ids.has(id)).map((stored) => [stored.id, stored]));
}
