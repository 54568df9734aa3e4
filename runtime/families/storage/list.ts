// Listing a tenant's objects in the order of their keys (decisions.md "Object storage").
import { fail, ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { cursorBinding, decodeCursor, encodeCursor } from "../../operations/cursor.js";
import { maxKeyBytes, prefixOf } from "./key.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { storedObject, type StoredObject } from "./stored-object.js";

/** `after` is a cursor; with it, the page counts from there. */
export interface ObjectQuery {
  readonly page?: number;
  readonly size?: number;
  readonly prefix?: string;
  readonly after?: string;
}

export interface ObjectPage {
  readonly hits: readonly StoredObject[];
  readonly page: number;
  readonly size: number;
  /** Objects with the prefix in all. */
  readonly count: number;
  readonly next_cursor: string | null;
}

/** Heads that are read at once. */
const parallel = 16;

/** A page of objects whose keys begin with the prefix. Throws `invalid_cursor`, and `core.validation` beyond the ceiling. */
export async function listObjects(
  spec: StorageSpec,
  context: ExecutionContext,
  { page = 1, size = 10, prefix = "", after }: ObjectQuery,
): Promise<ObjectPage> {
  const { pages } = context.resources.readLimits;
  if (pages !== null && page > pages) {
    const message = `must be <= ${pages}`;
    throw fail("core.validation", { errors: [{ path: "/page", keyword: "maximum", message }] });
  }
  if (!prefix.isWellFormed() || Buffer.byteLength(prefix) > maxKeyBytes) {
    const message = `must be at most ${maxKeyBytes} bytes of well-formed Unicode`;
    throw fail("core.validation", { errors: [{ path: "/prefix", keyword: "maxLength", message }] });
  }
  const binding = cursorBinding(context, { prefix });
  const last = after === undefined ? null : String(decodeCursor(context, binding, after)[0]);
  const store = context.resources.objects.of(spec);
  const root = prefixOf(spec.name, context.tenant);
  const [first, end] = [(page - 1) * size, page * size];
  const keys: string[] = [];
  let [count, place] = [0, 0];
  for await (const key of store.keys(root + prefix, null, context.signal)) {
    count += 1;
    if (last !== null && Buffer.compare(Buffer.from(key), Buffer.from(root + last)) <= 0) continue;
    if (place >= first && place < end) keys.push(key);
    place += 1;
  }
  const hits: StoredObject[] = [];
  for (let at = 0; at < keys.length; at += parallel) {
    const some = keys.slice(at, at + parallel);
    const heads = await Promise.allSettled(some.map((key) => store.head(key, context.signal)));
    for (const head of heads) {
      // What has been removed since it was listed is left out, and one bad object hides no other; an engine that goes
      // away hides none either.
      if (head.status === "rejected" && isAway(head.reason, context.signal)) throw head.reason;
      if (head.status === "rejected")
        context.resources.log.error({ err: head.reason as unknown }, "an object cannot be listed");
      else if (head.value !== null) hits.push(storedObject(spec, context, head.value));
    }
  }
  const lastKey = keys.at(-1)?.slice(root.length);
  const next =
    lastKey === undefined || place <= end ? null : encodeCursor(context, binding, [lastKey]);
  return { hits, page, size, count, next_cursor: next };
}

/** Whether no object could have been read, rather than this one. */
function isAway(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof ServiceError && error.code === "core.unavailable");
}
