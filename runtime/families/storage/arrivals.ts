// Uploads that pass the service by: their bytes are judged before anybody gets them (decisions.md
// "Object storage").
import { storeWithin } from "./resources.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { objectIndex } from "../../ports/object-index.js";
import type { ObjectStore } from "../../ports/objects.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { lookAt } from "./changes.js";
import { notingFor } from "./writes.js";

/** How often a version is looked at that another one replaces meanwhile. */
const maxAttempts = 4;

/**
 * The store of a storage as callers may read it: a version that came past the service is judged
 * first.
 */
export function readable(spec: StorageSpec, context: ExecutionContext): ObjectStore {
  const store = storeWithin(spec, context);
  const noting = notingFor(spec, context);
  if (noting.judge === undefined) return store;
  /** Whether the version may be read; otherwise it has been looked at, and may be gone. */
  const isSeen = async ({ key, etag }: ObjectHead): Promise<boolean> => {
    if (!(await context.transaction.of(objectIndex).isUnseen(key, etag))) return true;
    await lookAt(noting, [key]);
    return false;
  };
  return {
    ...store,
    async head(key, signal) {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const head = await store.head(key, signal);
        if (head === null || (await isSeen(head))) return head;
      }
      throw fail("core.concurrency");
    },
    async open(key, options) {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const opened = await store.open(key, options);
        if (opened === null || (await isSeen(opened.head))) return opened;
        opened.body.destroy();
      }
      throw fail("core.concurrency");
    },
  };
}
