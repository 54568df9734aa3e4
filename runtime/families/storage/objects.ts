// Objects for author handlers: with the rules of the routes, in the tenant of the invocation.
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import { maxObjectsPage } from "../../contract/object-texts.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import { heldApi } from "../../operations/held-api.js";
import { outputValue } from "../../operations/json-text.js";
import type { Handler } from "../../operations/operation.js";
import type { SignedForm } from "../../ports/direct-transfers.js";
import type { ObjectDescription, ObjectHead, ObjectTags } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { readable } from "./arrivals.js";
import { limitBytes } from "../../ports/bounded.js";
import { admitType } from "./content-type.js";
import { checkTags, checkTexts } from "./description.js";
import { direct, type SignedAnswer } from "./direct.js";
import { checkKey, keyFault, physicalKey } from "./key.js";
import { listObjects, type ObjectPage, type ObjectQuery } from "./list.js";
import type { MetadataInput } from "./metadata.js";
import { storage } from "./operations.js";
import { scanWritten, writeQuarantined } from "./quarantine.js";
import { quarantineOf, type Quarantine } from "./quarantined.js";
import { storedObject, type StoredObject } from "./stored-object.js";
import { writeObject, recordObject, removeAsAsked } from "./writes.js";

/**
 * What an object is made of: bytes, a text (as UTF-8), or a stream, such as the body of an answer
 * to `fetch`.
 */
export type ObjectBody = Uint8Array | string | AsyncIterable<Uint8Array>;

/** The description of a new object. */
export interface ObjectAbout {
  /**
   * Told by the bytes and the filename if it is left out. With `accept`, the bytes have to fit
   * it.
   */
  readonly content_type?: string;
  /** The last segment of the key if it is left out. */
  readonly filename?: string;
  readonly description?: string;
  readonly tags?: ObjectTags;
}

/**
 * An object with its bytes: they are fetched once somebody reads them, and let go of when the loop
 * over them ends.
 */
export interface ReadObject extends StoredObject {
  readonly body: AsyncIterable<Buffer>;
}

interface Expiring {
  /** Seconds, or a duration such as `PT15M`. */
  readonly expires_in: number | string;
}

/** Objects of one storage, as this invocation may see them. Errors are those of the routes. */
export interface ObjectCollection extends Quarantine {
  /** The facts of an object. Throws `core.not_found`. */
  head(key: string): Promise<StoredObject>;
  exists(key: string): Promise<boolean>;
  /**
   * An object and its bytes as a stream. Throws `core.not_found`; the stream, `core.concurrency`
   * if the object changes meanwhile.
   */
  get(key: string): Promise<ReadObject>;
  /**
   * The bytes of an object in memory, `max` at most; the default is `max_range`.
   * Throws `upload_too_large`.
   */
  bytes(key: string, options?: { readonly max?: number }): Promise<Buffer>;
  /** A page in the order of the keys, as the route `list` answers it. */
  list(query?: ObjectQuery): Promise<ObjectPage>;
  /** Writes an object under a key of its own, below `prefix`, as an upload does. */
  create(
    body: ObjectBody,
    about?: ObjectAbout & { readonly prefix?: string },
  ): Promise<StoredObject>;
  /**
   * Writes an object under this key, and replaces an existing one. In a storage with `scan` it is
   * no object, and replaces nothing, until that has released it.
   */
  put(key: string, body: ObjectBody, about?: ObjectAbout): Promise<StoredObject>;
  /** Members that are left out stay. */
  updateMetadata(key: string, changes: Omit<MetadataInput, "key">): Promise<StoredObject>;
  copy(from: string, to: string): Promise<StoredObject>;
  /** In a transaction, the old object goes when it has committed. */
  move(from: string, to: string): Promise<StoredObject>;
  /** Throws `core.not_found`. In a transaction, the object goes when it has committed. */
  delete(key: string): Promise<void>;
  presignDownload(key: string, options: Expiring): Promise<SignedAnswer>;
  presignUpload(
    key: string,
    options: Expiring & { readonly content_type?: string },
  ): Promise<SignedAnswer>;
  presignPost(
    key: string,
    options: Expiring & { readonly content_type?: string; readonly max_bytes?: number },
  ): Promise<SignedForm & { readonly method: "POST"; readonly expires_at: string }>;
}

/** The objects of a storage as this invocation may see them. */
export function objects(spec: StorageSpec, context: ExecutionContext): ObjectCollection {
  const lookedAt = async (key: string): Promise<ObjectHead | null> => {
    // A text that isn't a key names nothing.
    if (keyFault(key) !== null) return null;
    const at = physicalKey(spec, context.tenant, key);
    return readable(spec, context).head(at, context.signal);
  };
  const head = async (key: string): Promise<ObjectHead> => {
    const found = await lookedAt(key);
    if (found === null) throw fail("core.not_found");
    return found;
  };
  const asRoute = async <Input, Result>(
    route: Handler<Input, Result>,
    input: Input,
  ): Promise<Result> => outputValue(await route(input, context));
  const put: ObjectCollection["put"] = async (key, body, about = {}) => {
    const at = physicalKey(spec, context.tenant, key);
    const { content, description } = await takeIn(spec, key, body, about);
    if (spec.scan === undefined) {
      const head = await writeObject(spec, context, at, content, description);
      await recordObject(spec, context, at, "write");
      return storedObject(spec, context, head);
    }
    const upload = await writeQuarantined(spec, context, key, content, description);
    await scanWritten(spec, context, upload);
    return storedObject(spec, context, { ...upload.head, key: at });
  };
  const held: ObjectCollection = {
    ...quarantineOf(spec, context),
    put,
    create: async (body, { prefix = "", ...about } = {}) =>
      put(prefix === "" ? uuidv7() : `${checkKey(prefix, "/prefix")}/${uuidv7()}`, body, about),
    head: async (key) => storedObject(spec, context, await head(key)),
    exists: async (key) => (await lookedAt(key)) !== null,
    async get(key) {
      const found = await head(key);
      return { ...storedObject(spec, context, found), body: bytesOf(spec, context, found) };
    },
    async bytes(key, { max = spec.maxRangeBytes } = {}) {
      const found = await head(key);
      if (found.contentSize > max) throw fail("upload_too_large", { max_bytes: max });
      return buffer(bytesOf(spec, context, found));
    },
    list: async (query = {}) => listObjects(spec, context, checkedQuery(query)),
    updateMetadata: (key, changes) => asRoute(storage.updateMetadata(spec), { ...changes, key }),
    copy: (from, to) => asRoute(storage.copy(spec), { from, to }),
    move: (from, to) => asRoute(storage.move(spec), { from, to }),
    async delete(key) {
      const isGone =
        keyFault(key) === null &&
        (await removeAsAsked(spec, context, physicalKey(spec, context.tenant, key)));
      if (!isGone) throw fail("core.not_found");
    },
    presignDownload: (key, given) => asRoute(direct.presignDownload(spec), { ...given, key }),
    presignUpload: (key, given) => asRoute(direct.presignUpload(spec), { ...given, key }),
    presignPost: (key, given) => asRoute(direct.presignPost(spec), { ...given, key }),
  };
  // Not in turn: a body may be made of the results of other calls.
  return heldApi(context, `objects(${spec.name})`, held, { inTurn: false });
}

/** The bytes of a new object and its description, as the storage takes them in. */
async function takeIn(
  spec: StorageSpec,
  key: string,
  body: ObjectBody,
  { content_type, filename = key.split("/").at(-1) ?? key, description, tags = {} }: ObjectAbout,
): Promise<{
  readonly content: AsyncIterable<Buffer>;
  readonly description: ObjectDescription;
}> {
  checkTexts({ filename, description });
  const tagged = Object.keys(checkTags(tags)).length === 0 ? {} : { tags };
  const given = limitBytes(chunksOf(body), spec.maxUploadBytes);
  const { type, content } = await admitType(spec, given, { filename, told: content_type });
  return {
    content,
    description: { contentType: type, filename, description: description ?? null, ...tagged },
  };
}

/** Bytes of one chunk of a value in memory: a slow engine doesn't get all at once. */
const chunkBytes = 64 * 1024;

async function* chunksOf(body: ObjectBody): AsyncGenerator<Buffer> {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("a stream of an object has bytes");
      yield bufferOf(chunk);
    }
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : bufferOf(body);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

function bufferOf({ buffer: memory, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(memory, byteOffset, byteLength);
}

/** The bytes of the version that was looked at. */
async function* bytesOf(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, etag }: ObjectHead,
): AsyncGenerator<Buffer> {
  const { signal } = context;
  const opened = await readable(spec, context).open(key, { etag, signal });
  if (opened === null) throw fail("core.concurrency");
  yield* addAbortSignal(signal, opened.body);
}

/** Checks a query of objects, as a route's schema does for callers. */
function checkedQuery(query: ObjectQuery): ObjectQuery {
  const { page = 1, size = 1, tags = {} } = query;
  if (!(Number.isSafeInteger(page) && page >= 1))
    throw new TypeError("page must be an integer from 1");
  if (!(Number.isSafeInteger(size) && size >= 1 && size <= maxObjectsPage))
    throw new TypeError(`size must be an integer from 1 to ${maxObjectsPage}`);
  const { up_to: upTo } = query.count ?? { up_to: 1 };
  if (query.count === null || !(Number.isSafeInteger(upTo) && upTo >= 1 && upTo <= limits.maxCount))
    throw new TypeError(`count.up_to must be an integer from 1 to ${limits.maxCount}`);
  checkTags(tags);
  return query;
}
