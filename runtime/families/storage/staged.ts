// Uploads in parts to a storage that goes by bytes: they become an object at a key of their own
// first, so that one that is refused replaces nothing (decisions.md "Object storage").
import { storeWithin } from "./resources.js";
import { createHash } from "node:crypto";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { objectIndex } from "../../ports/object-index.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { judgeArrived } from "./changes.js";
import { stagedPrefix } from "./key.js";
import { copyObject, notesOf, notingFor, recordObject } from "./writes.js";

/** After so long nobody is at a staged object any more. */
const stagedMillis = 24 * 60 * 60 * 1_000;

/**
 * Where an upload to a key becomes an object first: nobody's key, the same for all calls of its
 * session.
 */
export function stagedKey(spec: StorageSpec, key: string, expiresAt: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([key, expiresAt]))
    .digest("hex");
  return stagedPrefix(spec) + hash;
}

/** Notes that there may be a staged object: it is removed if nobody has by then. */
export async function expectStaged(context: ExecutionContext, key: string): Promise<void> {
  const now = context.clock.now();
  const times = { now, dueAt: now + stagedMillis, until: now + stagedMillis };
  await notesOf(context)((transaction) => transaction.of(objectIndex).expect(key, times));
}

/**
 * Removes a staged object that the storage does not take in. Throws `upload_type_unsupported` then.
 */
export async function checkStaged(
  spec: StorageSpec,
  context: ExecutionContext,
  staged: ObjectHead,
): Promise<void> {
  const refusal = await judgeArrived(notingFor(spec, context), staged);
  if (refusal !== null) throw refusal;
}

/**
 * Puts a staged object in its place, or removes it where the storage does not take it in. Throws
 * `upload_type_unsupported`.
 */
export async function putInPlace(
  spec: StorageSpec,
  context: ExecutionContext,
  staged: ObjectHead,
  key: string,
): Promise<ObjectHead> {
  await checkStaged(spec, context, staged);
  const { contentType, filename, description } = staged;
  const head = await copyObject(spec, context, staged, key, { contentType, filename, description });
  // Another session of the same moment has replaced it.
  if (head === null) throw fail("core.concurrency");
  const store = storeWithin(spec, context);
  await store.remove(staged.key, { etag: staged.etag, signal: context.signal });
  await recordObject(spec, context, key, "write");
  return head;
}
