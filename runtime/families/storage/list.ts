// Listing a tenant's objects in the order of their keys, from the index (decisions.md "Object
// storage").
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { cursorBinding, decodeCursor, encodeCursor } from "../../operations/cursor.js";
import { objectIndex, type IndexedObject } from "../../ports/object-index.js";
import type { ObjectTags } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { maxKeyBytes, prefixOf } from "./key.js";
import { storedObject, type StoredObject } from "./stored-object.js";

/** `after` is a cursor; with it, the page counts from there. */
export interface ObjectQuery {
  readonly page?: number;
  readonly size?: number;
  /** How many are counted at most; the storage may say less. */
  readonly count?: { readonly up_to: number };
  readonly prefix?: string;
  readonly after?: string;
  /** `image/png`, or `image/*`. */
  readonly content_type?: string;
  /** All of them. */
  readonly tags?: ObjectTags;
}

export interface ObjectPage {
  readonly hits: readonly StoredObject[];
  readonly page: number;
  readonly size: number;
  /**
   * The number of objects that pass, no higher than they were counted; null behind a cursor, since
   * they were counted before.
   */
  readonly count: number | null;
  readonly next_cursor: string | null;
}

/**
 * A page of objects whose keys begin with the prefix. Throws `invalid_cursor`, and
 * `core.validation` beyond the ceiling.
 */
export async function listObjects(
  spec: StorageSpec,
  context: ExecutionContext,
  { page = 1, size = 10, count, prefix = "", after, content_type, tags }: ObjectQuery,
): Promise<ObjectPage> {
  checkPage(context, page, prefix);
  const binding = cursorBinding(context, { prefix, content_type, tags });
  const last = after === undefined ? null : String(decodeCursor(context, binding, after)[0]);
  const root = prefixOf(spec, context.tenant);
  const filter = { prefix: root + prefix, contentType: content_type ?? null, tags: tags ?? {} };
  const index = context.transaction.of(objectIndex);
  const window = { offset: (page - 1) * size, limit: size + 1 };
  const upTo = Math.min(count?.up_to ?? Infinity, spec.countUpTo ?? Infinity);
  const { rows, count: counted } = await readPage();
  const hits = rows.slice(0, size).map((one) => storedObject(spec, context, one));
  const lastHit = rows.length > size ? hits.at(-1) : undefined;
  const next = lastHit === undefined ? null : encodeCursor(context, binding, [lastHit.key]);
  return { hits, page, size, count: counted, next_cursor: next };

  async function readPage(): Promise<{
    readonly rows: readonly IndexedObject[];
    readonly count: number | null;
  }> {
    // What no key has is in no index either.
    const isNone = /[\p{Cc}\\]/u.test(prefix);
    if (last === null)
      return isNone ? { rows: [], count: 0 } : index.countedPage(filter, window, upTo);
    const after = root + last;
    return { rows: isNone ? [] : await index.select(filter, { ...window, after }), count: null };
  }
}

function checkPage({ resources }: ExecutionContext, page: number, prefix: string): void {
  const { pages } = resources.readLimits;
  if (pages !== null && page > pages) {
    const message = `must be <= ${pages}`;
    throw fail("core.validation", { errors: [{ path: "/page", keyword: "maximum", message }] });
  }
  if (prefix.isWellFormed() && Buffer.byteLength(prefix) <= maxKeyBytes) return;
  const message = `must be at most ${maxKeyBytes} bytes of well-formed Unicode`;
  throw fail("core.validation", { errors: [{ path: "/prefix", keyword: "maxLength", message }] });
}
