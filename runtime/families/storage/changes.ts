// Changes of objects, and the index that lists read: a change is noted, the engine changes, and
// what it has become is put down. Neither order alone would do: a process that dies behind the
// engine's part would leave an object that no list has.
import { storeFor } from "./resources.js";
import type { ServiceError } from "../../contract/errors.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { objectIndex, type FoundObject, type IndexedObject } from "../../ports/object-index.js";
import type { ObjectStore } from "../../ports/objects.js";
import type { Clock } from "../../ports/clock.js";
import type { Transaction } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import type { Payer } from "../../ports/work.js";
import type { Resources } from "../../operations/resources.js";
import { judgeOf, type Judge } from "./judge.js";

/** After so long, nobody is at a change any more: bytes have come before it begins. */
const changeMillis = 10 * 60 * 1_000;
/**
 * How often a key is looked at that others change at the same time; what is left is looked at
 * later.
 */
const maxLooks = 5;
/** Objects that are looked at side by side. */
const parallel = 16;

/** With what changes are noted: each in a short transaction of its own. */
export interface Noting {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Judges what came past the service; absent if that needs no judge. */
  readonly judge?: Judge | undefined;
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** How long noting may take. */
const writeMillis = 10_000;

/**
 * With what the changes of a storage are noted, at the expense of who asks; null is the service
 * itself.
 */
export function notingOf(
  resources: Pick<Resources, "clock" | "database" | "log" | "of">,
  spec: StorageSpec,
  payer: Payer | null = null,
): Noting {
  const { clock, log } = resources;
  const store = storeFor(spec, resources);
  return { store, clock, log, judge: judgeOf(spec, store), write: writeShortly(resources, payer) };
}

/** Short transactions; changes are noted even if the caller has gone. */
export function writeShortly(
  { database }: Pick<Resources, "database">,
  payer: Payer | null = null,
): Noting["write"] {
  return (work) => database.write({ lifetime: Lifetime.within(writeMillis), payer }, work);
}

/** A change of one key. */
export interface ObjectChange {
  /** Notes it; the engine's part follows. */
  begin(): Promise<void>;
  /**
   * The bytes of an object, behind whose last one the change is noted: whoever gave up before has
   * changed nothing.
   */
  noted(content: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /**
   * What the key has now; null if the object is gone. The change is made: a fault here only has
   * it listed later.
   */
  settle(head: ObjectHead | null): Promise<void>;
}

/** A change of a key, as its engine has it. */
export function changeOf(noting: Noting, key: string): ObjectChange {
  const id = uuidv7();
  const begin = (): Promise<void> => begun(noting, id, [key]);
  return {
    begin,
    async *noted(content) {
      yield* content;
      await begin();
    },
    async settle(object) {
      try {
        const unsettled = await settleChange(noting, id, [{ key, object }]);
        if (unsettled.length > 0) await lookAndSettle(noting, unsettled, id);
      } catch (err) {
        noting.log.warn({ err }, "an object has changed, and is listed a little later");
      }
    },
  };
}

/**
 * Brings the index in line with what the engine has of these keys, while others may change them.
 */
export async function lookAt(noting: Noting, keys: readonly string[]): Promise<void> {
  const id = uuidv7();
  try {
    await lookAndSettle(noting, keys, id);
  } catch (error) {
    // Whoever asked asks again, or has a note of its own.
    await noting.write(async (transaction) => {
      for (const key of keys)
        await transaction.of(objectIndex).forget({ key, id, until: Number.MAX_SAFE_INTEGER });
    });
    throw error;
  }
}

async function lookAndSettle(noting: Noting, keys: readonly string[], id: string): Promise<void> {
  let left = keys;
  for (let look = 0; look < maxLooks && left.length > 0; look += 1) {
    await begun(noting, id, left);
    const found: FoundObject[] = [];
    for (const one of await headsOf(noting.store, left))
      found.push({ key: one.key, object: (await judgeObject(noting, one)).object });
    left = await settleChange(noting, id, found);
  }
}

/**
 * What is left of an object that may have come past the service: nothing if the storage does not
 * take it in, and why.
 */
export async function judgeObject(
  noting: Noting,
  { key, object }: FoundObject,
): Promise<{ readonly object: FoundObject["object"]; readonly refusal: ServiceError | null }> {
  if (noting.judge === undefined || object === null) return { object, refusal: null };
  const { etag } = object;
  if (!(await noting.write((transaction) => transaction.of(objectIndex).isUnseen(key, etag))))
    return { object, refusal: null };
  const refusal = await judgeArrived(noting, object);
  return { object: refusal === null ? object : null, refusal };
}

/** Why the storage does not take in an object, which is removed then; null if it does. */
export async function judgeArrived(
  { judge, log, store }: Pick<Noting, "judge" | "log" | "store">,
  object: IndexedObject,
): Promise<ServiceError | null> {
  const refusal = (await judge?.(object)) ?? null;
  if (refusal === null) return null;
  await store.remove(object.key, { etag: object.etag });
  log.warn({ code: refusal.code }, "an upload is of no accepted type, and has been removed");
  return refusal;
}

/** The engine's objects under keys. */
export async function headsOf(
  store: ObjectStore,
  keys: readonly string[],
): Promise<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  for (let at = 0; at < keys.length; at += parallel)
    found.push(
      ...(await Promise.all(
        keys.slice(at, at + parallel).map(async (key) => ({ key, object: await store.head(key) })),
      )),
    );
  return found;
}

function begun({ clock, write }: Noting, id: string, keys: readonly string[]): Promise<void> {
  const now = clock.now();
  const times = { now, dueAt: now + changeMillis };
  return write((transaction) => transaction.of(objectIndex).begin(id, keys, times));
}

function settleChange(
  { write }: Noting,
  id: string,
  found: readonly FoundObject[],
): Promise<readonly string[]> {
  return write((transaction) => transaction.of(objectIndex).settle(id, found));
}
