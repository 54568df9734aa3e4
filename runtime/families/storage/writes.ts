// Changes of objects by operations: each with its note, and what it has become put down for lists.
// In a transaction they go with it, as far as engines of objects can: what is new is taken back
// where it is undone, and what is to go goes once it has committed.
import { prefixOf } from "./key.js";
import { storeWithin } from "./resources.js";
import { recordChange } from "../../operations/recorded.js";
import type { ExecutionContext } from "../../operations/context.js";
import { hasReturned } from "../../operations/calls.js";
import { inTurn } from "../../work/in-turn.js";
import type { Transaction } from "../../ports/database.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { changeOf, notingOf, writeShortly, type Noting, type ObjectChange } from "./changes.js";

/** How long an engine may take for the work behind a transaction. */
const followingMillis = 30_000;

/**
 * How an invocation notes changes: in the transaction that it holds, for whose end another one
 * would wait.
 */
export function notesOf(context: ExecutionContext): Noting["write"] {
  if (!context.holdsTransaction) return writeShortly(context.resources, context.payer);
  const { transaction } = context;
  return (work) => inTurn(transaction, () => transaction.attempt(() => work(transaction)));
}

/** The means by which an invocation notes changes of a storage. */
export function notingFor(spec: StorageSpec, context: ExecutionContext): Noting {
  return { ...notingOf(context.resources, spec), write: notesOf(context) };
}

/** A change of a key, at the expense of who asks. */
export function beginChange(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
): ObjectChange {
  return changeOf(notingFor(spec, context), key);
}

/** Writes an object. */
export function writeObject(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  content: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<ObjectHead> {
  return revocably(spec, context, key, async () => {
    const change = beginChange(spec, context, key);
    const store = storeWithin(spec, context);
    const head = await store.write(key, change.noted(content), description, context.signal);
    await change.settle(head);
    return head;
  });
}

/**
 * Notes a change of an object for families that keep changes: in a transaction of its own where
 * none is running. Uploads that are not in their place yet are no objects.
 */
export async function recordObject(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  change: "write" | "kill",
): Promise<void> {
  const prefix = prefixOf(spec, context.tenant);
  if (context.resources.recorded === null || !key.startsWith(prefix)) return;
  const resourceId = key.slice(prefix.length);
  const changed = { change, resource: spec.name, resourceId, rev: null, fields: [], details: {} };
  const note = (): void => recordChange(context, changed);
  if (context.holdsTransaction) note();
  else await context.transact(async () => note());
}

/**
 * Puts one version at another key, or its own with another description; null if it is not there.
 */
export function copyObject(
  spec: StorageSpec,
  context: ExecutionContext,
  from: ObjectHead,
  to: string,
  description: ObjectDescription,
): Promise<ObjectHead | null> {
  return revocably(spec, context, to, async () => {
    const change = beginChange(spec, context, to);
    await change.begin();
    const options = { etag: from.etag, signal: context.signal };
    const head = await storeWithin(spec, context).copy(from.key, to, description, options);
    if (head !== null) await change.settle(head);
    return head;
  });
}

/**
 * Removes an object, or with `etag` that version of it; says whether there was one. In a
 * transaction it goes at its commit.
 */
export async function removeObject(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  etag?: string,
): Promise<boolean> {
  if (!context.holdsTransaction) {
    context.refuseLeftBehind();
    return discardObject(spec, context, key, etag);
  }
  const head = await storeWithin(spec, context).head(key, context.signal);
  if (head === null || (etag !== undefined && head.etag !== etag)) return false;
  const noting = notingOf(context.resources, spec, context.payer);
  context.follow(async () => {
    // Nobody waits any more who could give up; a version that was written meanwhile stays.
    await removedAtOnce(noting, key, head.etag, AbortSignal.timeout(followingMillis));
  });
  return true;
}

/** Removes an object for whoever asks for it, as `removeObject` does, and notes that. */
export async function removeAsAsked(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  etag?: string,
): Promise<boolean> {
  const isRemoved = await removeObject(spec, context, key, etag);
  if (isRemoved) await recordObject(spec, context, key, "kill");
  return isRemoved;
}

/** Removes an object at once, such as one that an upload has written before it failed. */
export function discardObject(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  etag?: string,
): Promise<boolean> {
  return removedAtOnce(notingFor(spec, context), key, etag, context.signal);
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

/** The changes of a key by a transaction. */
interface Made {
  /** Whether there was no object before. */
  readonly isNew: Promise<boolean>;
  readonly etags: Set<string>;
  /** Versions that have not been undone. */
  count: number;
}

const madeIn = new WeakMap<Transaction, Map<string, Made>>();

/** Makes a version of a key, which is taken back if the running transaction is undone. */
async function revocably<Version extends ObjectHead | null>(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  make: () => Promise<Version>,
): Promise<Version> {
  if (!context.holdsTransaction) {
    context.refuseLeftBehind();
    return make();
  }
  const made = madeOf(spec, context, key);
  await made.isNew;
  // If the transaction has ended meanwhile, nothing would take the new version back.
  if (!context.holdsTransaction) throw hasReturned();
  made.count += 1;
  const making = make();
  const noting = notingOf(context.resources, spec, context.payer);
  context.followUndone(async () => {
    made.count -= 1;
    const version = await making.catch(() => null);
    if (version !== null) await takenBack(noting, made, version);
  });
  return making;
}

function madeOf(spec: StorageSpec, context: ExecutionContext, key: string): Made {
  const keys = madeIn.get(context.transaction) ?? new Map<string, Made>();
  madeIn.set(context.transaction, keys);
  const store = storeWithin(spec, context);
  const made = keys.get(key) ?? {
    isNew: store.head(key, context.signal).then((head) => head === null),
    etags: new Set<string>(),
    count: 0,
  };
  keys.set(key, made);
  return made;
}

/** Takes back a version that has been undone. What replaced an object stays, since that is gone. */
async function takenBack(noting: Noting, made: Made, { key, etag }: ObjectHead): Promise<void> {
  made.etags.add(etag);
  const change = changeOf(noting, key);
  await change.begin();
  const signal = AbortSignal.timeout(followingMillis);
  const there = await noting.store.head(key, signal);
  const isOurs = made.count === 0 && (await made.isNew) && made.etags.has(there?.etag ?? "");
  const isGone =
    isOurs && there !== null && (await noting.store.remove(key, { etag: there.etag, signal }));
  await change.settle(isGone ? null : there);
}
