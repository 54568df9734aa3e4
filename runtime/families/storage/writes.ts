// Changes of objects by operations: each with its note, and what it has become put down for lists. In a transaction they go with it,
// as far as engines of objects can: what is new is taken back where it is undone, and what is to go goes once it has committed.
import type { ExecutionContext } from "../../operations/context.js";
import { inTurn } from "../../operations/in-turn.js";
import type { Transaction } from "../../ports/database.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { objectIndex, type IndexedObject } from "../../ports/object-index.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { changeOf, notingOf, writing, type Noting, type ObjectChange } from "./changes.js";

/** How long an engine may take for what follows a transaction. */
const followingMillis = 30_000;

/** How an invocation notes changes: in the transaction that it holds, for whose end another one would wait. */
export function notesOf(context: ExecutionContext): Noting["write"] {
  if (!context.holdsTransaction) return writing(context.resources, context.payer);
  const { transaction } = context;
  return (work) => inTurn(transaction, () => transaction.attempt(() => work(transaction)));
}

/** With what an invocation notes changes of a storage. */
export function notingFor(spec: StorageSpec, context: ExecutionContext): Noting {
  return { ...notingOf(context.resources, spec), write: notesOf(context) };
}

/** A change of a key, at the expense of who asks. */
export function changing(spec: StorageSpec, context: ExecutionContext, key: string): ObjectChange {
  return changeOf(notingFor(spec, context), key);
}

/** Writes an object. */
export function written(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  content: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<ObjectHead> {
  return revocably(spec, context, key, async () => {
    const change = changing(spec, context, key);
    const store = context.resources.objects.of(spec);
    const head = await store.write(key, change.noted(content), description, context.signal);
    await change.settle(head);
    return head;
  });
}

/** Puts one version at another key, or its own with another description; null where it is not there. */
export function copied(
  spec: StorageSpec,
  context: ExecutionContext,
  from: ObjectHead,
  to: string,
  description: ObjectDescription,
): Promise<ObjectHead | null> {
  return revocably(spec, context, to, async () => {
    const change = changing(spec, context, to);
    await change.begin();
    const options = { etag: from.etag, signal: context.signal };
    const head = await context.resources.objects.of(spec).copy(from.key, to, description, options);
    if (head !== null) await change.settle(head);
    return head;
  });
}

/** Removes an object, or with `etag` that version of it; says whether there was one. In a transaction it goes at its commit. */
export async function removed(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  etag?: string,
): Promise<boolean> {
  if (!context.holdsTransaction)
    return removedAtOnce(notingFor(spec, context), key, etag, context.signal);
  const head = await context.resources.objects.of(spec).head(key, context.signal);
  if (head === null || (etag !== undefined && head.etag !== etag)) return false;
  const noting = notingOf(context.resources, spec, context.payer);
  context.whenCommitted(async () => {
    // Nobody waits any more who could give up; a version that was written meanwhile stays.
    await removedAtOnce(noting, key, head.etag, AbortSignal.timeout(followingMillis));
  });
  return true;
}

async function removedAtOnce(
  noting: Noting,
  key: string,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const change = changeOf(noting, key);
  await change.begin();
  const isRemoved = await noting.store.remove(key, { etag, signal });
  // Another version that is there instead is put down by whoever wrote it.
  if (isRemoved || etag === undefined) await change.settle(null);
  return isRemoved;
}

/** What lists say of a key; undefined where it is not among them. */
export async function indexed(
  transaction: Transaction,
  key: string,
): Promise<IndexedObject | undefined> {
  const filter = { prefix: key, contentType: null, tags: {} };
  const window = { after: null, offset: 0, limit: 1 };
  const [first] = await transaction.of(objectIndex).page(filter, window);
  return first?.key === key ? first : undefined;
}

/** Makes a version of a key, which is taken back where the running transaction is undone. */
async function revocably<Made extends ObjectHead | null>(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  make: () => Promise<Made>,
): Promise<Made> {
  if (!context.holdsTransaction) return make();
  const isNew = await isNewIn(context, spec, key);
  const making = make();
  const noting = notingOf(context.resources, spec, context.payer);
  context.whenUndone(async () => {
    const made = await making.catch(() => null);
    if (made !== null) await takenBack(noting, made, isNew);
  });
  return making;
}

/** Keys that transactions have made versions of, and whether they had none before. */
const firsts = new WeakMap<Transaction, Map<string, Promise<boolean>>>();

/** Whether a key had no object before the running transaction began to change it. */
function isNewIn(context: ExecutionContext, spec: StorageSpec, key: string): Promise<boolean> {
  const known = firsts.get(context.transaction) ?? new Map<string, Promise<boolean>>();
  firsts.set(context.transaction, known);
  const store = context.resources.objects.of(spec);
  const first = known.get(key) ?? store.head(key, context.signal).then((head) => head === null);
  known.set(key, first);
  return first;
}

/**
 * Takes back a version whose transaction has been undone, or may have been: the index, which the transaction wrote to, tells.
 * A version that has replaced another one stays, since that one is gone.
 */
async function takenBack(noting: Noting, made: ObjectHead, isNew: boolean): Promise<void> {
  const { key, etag } = made;
  const change = changeOf(noting, key);
  // The note waits for a transaction of which nobody knows the end.
  await change.begin();
  const known = await noting.write((transaction) => indexed(transaction, key));
  const signal = AbortSignal.timeout(followingMillis);
  if (isNew && known === undefined) await noting.store.remove(key, { etag, signal });
  await change.settle(await noting.store.head(key, signal));
}
