// A store whose objects may be encrypted or not: each is read by its own kind, whatever the storage
// says by now.
import { buffer } from "node:stream/consumers";
import { fail } from "../../../contract/errors.js";
import type { DirectTransfers } from "../../../ports/direct-transfers.js";
import type { ObjectStore } from "../../../ports/objects.js";
import { refusedType } from "../refused-type.js";
import { headerBytes, isSealed, magicBytes } from "./format.js";

/** How often a version is looked for that others replace meanwhile. */
const maxAttempts = 5;

/** One version, and the store that reads it. */
interface Found {
  readonly store: ObjectStore;
  readonly etag: string;
}

/**
 * Reads objects of both kinds, and writes them as `writes` says. Where it writes without
 * encryption, a file that begins as an encrypted object does is refused with
 * `upload_type_unsupported`: nobody could tell it from one later on.
 */
export function mixedStore(
  plain: ObjectStore,
  encrypted: ObjectStore,
  writes: "none" | "client",
): ObjectStore {
  const target = writes === "client" ? encrypted : plain;

  const find = async (
    key: string,
    wanted: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Found | null> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const head = await plain.head(key, signal);
      if (head === null || (wanted !== undefined && head.etag !== wanted)) return null;
      const { etag } = head;
      // Every encrypted object has a whole header.
      if (head.size < headerBytes) return { store: plain, etag };
      const window = { first: 0, last: magicBytes - 1 };
      const opened = await plain.open(key, { window, etag, signal });
      if (opened === null) continue;
      const beginning = await buffer(opened.body);
      return { store: isSealed(beginning) ? encrypted : plain, etag };
    }
    throw fail("core.concurrency");
  };

  /**
   * Does something with the version that is there; null if it has gone, or is not the one that
   * was asked for.
   */
  const within = async <T>(
    key: string,
    wanted: string | undefined,
    signal: AbortSignal | undefined,
    use: (found: Found) => Promise<T | null>,
  ): Promise<T | null> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const found = await find(key, wanted, signal);
      if (found === null) return null;
      try {
        const used = await use(found);
        if (used !== null || wanted !== undefined) return used;
      } catch (error) {
        // Another version may be of the other kind.
        if ((await find(key, wanted, signal))?.etag === found.etag) throw error;
      }
    }
    throw fail("core.concurrency");
  };

  return {
    head: (key, signal) => within(key, undefined, signal, ({ store }) => store.head(key, signal)),
    open: (key, { window, etag: wanted, signal } = {}) =>
      within(key, wanted, signal, ({ store, etag }) =>
        store.open(key, { ...(window === undefined ? {} : { window }), etag, signal }),
      ),
    write: (key, body, description, signal) =>
      target.write(key, writes === "none" ? refuseSealed(body) : body, description, signal),
    copy: (from, to, description, { etag: wanted, signal }) =>
      within(from, wanted, signal, async ({ store, etag }) => {
        if (store === target) return store.copy(from, to, description, { etag, signal });
        const opened = await store.open(from, { etag, signal });
        return opened === null ? null : target.write(to, opened.body, description, signal);
      }),
    remove: (key, options) => plain.remove(key, options),
    list: (prefix, after, signal) => plain.list(prefix, after, signal),
    sweep: (prefix, olderThanSeconds, limit) => plain.sweep(prefix, olderThanSeconds, limit),
    ping: (signal) => plain.ping(signal),
    direct: directOf(target.direct, async (key) => (await find(key, undefined, undefined))?.store),
    close: () => plain.close(),
  };

  /** Transfers that pass the service by would show encrypted bytes. */
  function directOf(
    direct: DirectTransfers | null,
    storeOf: (key: string) => Promise<ObjectStore | undefined>,
  ): DirectTransfers | null {
    if (direct === null) return null;
    return {
      ...direct,
      async signDownload(head, seconds) {
        if ((await storeOf(head.key)) === encrypted)
          throw fail("encryption_forbids_direct_transfer");
        return direct.signDownload(head, seconds);
      },
    };
  }
}

/**
 * The same bytes, unless they would be taken for an encrypted object. Throws
 * `upload_type_unsupported`.
 */
async function* refuseSealed(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let beginning: Buffer | null = Buffer.alloc(0);
  for await (const chunk of body) {
    if (beginning === null) {
      yield chunk;
      continue;
    }
    beginning = Buffer.concat([beginning, chunk]);
    if (beginning.length < magicBytes) continue;
    if (isSealed(beginning)) throw refusedType("application/octet-stream", "bytes");
    yield beginning;
    beginning = null;
  }
  if (beginning !== null && beginning.length > 0) yield beginning;
}
