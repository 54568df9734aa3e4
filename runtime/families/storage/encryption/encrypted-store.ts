// A store that encrypts what another one keeps, in constant memory both ways (decisions.md "Object
// storage": encryption).
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fail } from "../../../contract/errors.js";
import type { ByteWindow, ObjectHead } from "../../../ports/object-head.js";
import type { ObjectStore, OpenedObject } from "../../../ports/objects.js";
import {
  chunkBytes,
  chunkCount,
  ChunkCipher,
  contentBytes,
  headerBytes,
  openWhole,
  printHeader,
  readHeader,
  sealedBytes,
  type Form,
} from "./format.js";
import type { KeyRing } from "./key-ring.js";
import { drawBytes } from "../../../ports/ambient.js";

const headerWindow: ByteWindow = { first: 0, last: headerBytes - 1 };

/** The header of an object, and the object that it is of. */
interface Unlocked {
  readonly head: ObjectHead;
  readonly form: Form;
  readonly header: Buffer;
  readonly dataKey: Buffer;
}

/** Unwraps an object's data key, which is in the header. */
async function unlockObject(ring: KeyRing, head: ObjectHead, header: Buffer): Promise<Unlocked> {
  try {
    const { form, key } = readHeader(header);
    const dataKey = await ring.unwrap(key, head.key);
    const contentSize = contentBytes(form, head.size);
    const about = { ...head, contentSize, ...(form === "whole" ? { isOnePiece: true } : {}) };
    return { head: about, form, header, dataKey };
  } catch (cause) {
    throw fail("core.infrastructure", {}, { cause });
  }
}

/**
 * Every object has a data key of its own, which the ring wraps for that very key of the store:
 * bytes that were put in another object's or another tenant's place do not open.
 */
export function encryptedStore(inner: ObjectStore, ring: KeyRing): ObjectStore {
  /** The header of one version; null if it is not there, or is another version. */
  const unlock = async (
    key: string,
    etag: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Unlocked | null> => {
    const options = { window: headerWindow, ...(etag === undefined ? {} : { etag }), signal };
    const opened = await inner.open(key, options);
    return opened === null ? null : unlockObject(ring, opened.head, await buffer(opened.body));
  };

  const openWindow = async (
    { head, form, header, dataKey }: Unlocked,
    { first, last }: ByteWindow,
    signal: AbortSignal | undefined,
  ): Promise<OpenedObject | null> => {
    if (form === "whole") return openAll(head.key, head.etag, signal);
    const [from, to] = [Math.floor(first / chunkBytes), Math.floor(last / chunkBytes)];
    const window = {
      first: headerBytes + from * sealedBytes,
      last: Math.min(headerBytes + (to + 1) * sealedBytes, head.size) - 1,
    };
    const opened = await inner.open(head.key, { window, etag: head.etag, signal });
    if (opened === null) return null;
    const cipher = new ChunkCipher(dataKey, header);
    const chunks = openedChunks(opened.body, cipher, from, to, chunkCount(head.size));
    const cut = sliceBytes(chunks, first - from * chunkBytes, last - first + 1);
    return { head, window: { first, last }, body: streamOf(cut, opened.body) };
  };

  const openAll = (
    key: string,
    etag: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<OpenedObject | null> => openedWhole(inner, ring, key, { etag, signal });

  const write: ObjectStore["write"] = async (key, body, description, signal) => {
    const dataKey = drawBytes(32);
    const header = printHeader("chunked", await ring.wrap(dataKey, key));
    const cipher = new ChunkCipher(dataKey, header);
    const head = await inner.write(key, sealedContent(body, cipher, header), description, signal);
    return { ...head, contentSize: contentBytes("chunked", head.size) };
  };

  return {
    async head(key, signal) {
      return (await unlock(key, undefined, signal))?.head ?? null;
    },

    async open(key, { window, etag, signal } = {}) {
      if (window === undefined) return openAll(key, etag, signal);
      const found = await unlock(key, etag, signal);
      return found === null ? null : openWindow(found, window, signal);
    },

    write,

    remove: (key, options) => inner.remove(key, options),
    ping: (signal) => inner.ping(signal),
    sweep: (prefix, olderThanSeconds, limit) => inner.sweep(prefix, olderThanSeconds, limit),
    async copy(from, to, description, { etag, signal }) {
      // A data key is wrapped for the key of its object: elsewhere the bytes are sealed anew.
      if (from === to) {
        const copied = await inner.copy(from, to, description, {
          ...(etag === undefined ? {} : { etag }),
          signal,
        });
        return copied === null ? null : ((await unlock(to, copied.etag, signal))?.head ?? null);
      }
      const opened = await openAll(from, etag, signal);
      return opened === null ? null : write(to, opened.body, description, signal);
    },

    list: (prefix, after, signal) => inner.list(prefix, after, signal),
    // What passes by the service could not be encrypted by it.
    direct: null,
    close: () => inner.close(),
  };
}

/** A whole object, opened; null if it is not there or is another version. */
async function openedWhole(
  inner: ObjectStore,
  ring: KeyRing,
  key: string,
  { etag, signal }: { readonly etag: string | undefined; readonly signal: AbortSignal | undefined },
): Promise<OpenedObject | null> {
  const opened = await inner.open(key, { ...(etag === undefined ? {} : { etag }), signal });
  if (opened === null) return null;
  const reader = new ExactReader(opened.body);
  try {
    const header = (await reader.read(headerBytes)) ?? Buffer.alloc(0);
    const { head, form, dataKey } = await unlockObject(ring, opened.head, header);
    const rest = reader.rest();
    if (form === "whole")
      return {
        head,
        window: null,
        body: streamOf(wholeContent(rest, dataKey, header), opened.body),
      };
    const cipher = new ChunkCipher(dataKey, header);
    const count = chunkCount(head.size);
    const content = openedChunks(rest, cipher, 0, count - 1, count);
    return { head, window: null, body: streamOf(content, opened.body) };
  } catch (error) {
    opened.body.destroy();
    throw error;
  }
}

/**
 * A stream of what is made of a source, which ends with it: a generator that was never begun lets
 * go of nothing.
 */
function streamOf(content: AsyncIterable<Buffer>, source: Readable): Readable {
  const body = Readable.from(content);
  body.once("close", () => source.destroy());
  return body;
}

async function* sealedContent(
  body: AsyncIterable<Buffer>,
  cipher: ChunkCipher,
  header: Buffer,
): AsyncGenerator<Buffer> {
  yield header;
  const reader = new ExactReader(body);
  // One chunk is held back: only its end tells whether it is the last.
  let held = (await reader.read(chunkBytes)) ?? Buffer.alloc(0);
  for (let index = 0; ; index += 1) {
    const next = held.length < chunkBytes ? null : await reader.read(chunkBytes);
    yield cipher.seal(held, index, next === null);
    if (next === null) return;
    held = next;
  }
}

/** The content of the chunks from one to another one, of so many in all. */
async function* openedChunks(
  sealed: AsyncIterable<Buffer>,
  cipher: ChunkCipher,
  from: number,
  to: number,
  count: number,
): AsyncGenerator<Buffer> {
  const reader = new ExactReader(sealed);
  try {
    for (let index = from; index <= to; index += 1) {
      const chunk = await reader.read(sealedBytes);
      if (chunk === null) throw new Error("an object that is cut off");
      yield cipher.open(chunk, index, index === count - 1);
    }
  } finally {
    await reader.end();
  }
}

async function* sliceBytes(
  content: AsyncIterable<Buffer>,
  skip: number,
  length: number,
): AsyncGenerator<Buffer> {
  let [before, left] = [skip, length];
  for await (const chunk of content) {
    const part = chunk.subarray(before, before + left);
    before = Math.max(0, before - chunk.length);
    left -= part.length;
    if (part.length > 0) yield part;
  }
}

async function* wholeContent(
  sealed: AsyncIterable<Buffer>,
  dataKey: Buffer,
  header: Buffer,
): AsyncGenerator<Buffer> {
  yield openWhole(dataKey, header, await buffer(Readable.from(sealed)));
}

/** Reads exact numbers of bytes from chunks of any size. */
class ExactReader {
  readonly #iterator: AsyncIterator<Buffer>;
  #kept: Buffer[] = [];
  #size = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** So many bytes, or the rest, or null at the end. */
  async read(bytes: number): Promise<Buffer | null> {
    while (this.#size < bytes) {
      const { done, value } = await this.#iterator.next();
      if (done === true) break;
      this.#kept.push(value);
      this.#size += value.length;
    }
    if (this.#size === 0) return null;
    const all = this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept, this.#size);
    if (all === undefined) return null;
    const found = all.subarray(0, bytes);
    const rest = all.subarray(bytes);
    this.#kept = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return found;
  }

  /** The bytes that have not been read yet. */
  async *rest(): AsyncGenerator<Buffer> {
    try {
      yield* this.#kept;
      for (;;) {
        const { done, value } = await this.#iterator.next();
        if (done === true) return;
        yield value;
      }
    } finally {
      await this.end();
    }
  }

  /** Lets go of the source. */
  async end(): Promise<void> {
    await this.#iterator.return?.();
  }
}
