// The storage operations that generated routes name (service.md "Storage routes", "Download
// behaviour").
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fail } from "../../contract/errors.js";
import { ByteReply } from "../../operations/byte-reply.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { uuidv7 } from "../../ports/uuid.js";
import { limitBytes, tooLarge } from "../../ports/bounded.js";
import {
  checkPreconditions,
  noPreconditions,
  type Validators,
} from "../../operations/preconditions.js";
import { readable } from "./arrivals.js";
import type { Conditions } from "./conditions.js";
import { admitType } from "./content-type.js";
import { askedWindow, decidedReply, headersOfObject, downloadReply, partial } from "./download.js";
import type { IncomingFile, IncomingForm } from "./form.js";
import { checkKey, physicalKey } from "./key.js";
import { listObjects, type ObjectPage, type ObjectQuery } from "./list.js";
import { objectMetadata } from "./metadata.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import {
  discardUpload,
  renameQuarantined,
  scanWritten,
  writeQuarantined,
  type Quarantined,
} from "./quarantine.js";
import { storedObject, type StoredObject } from "./stored-object.js";
import { checkTexts, readTags } from "./description.js";
import {
  copyObject,
  discardObject,
  removeObject,
  writeObject,
  recordObject,
  removeAsAsked,
} from "./writes.js";

export interface KeyInput {
  readonly key: string;
}

/** The part of a download that is asked for, as it was sent. */
type Ranged = Pick<Conditions, "range" | "ifRange">;

/** Handlers of the storage family. */
export const storage = {
  ...objectMetadata,

  upload:
    (spec: StorageSpec): Handler<{ readonly form: IncomingForm }, StoredObject> =>
    ({ form }, context) =>
      upload(spec, context, form),

  list:
    (spec: StorageSpec): Handler<ObjectQuery, ObjectPage> =>
    (query, context) =>
      listObjects(spec, context, query),

  download:
    (spec: StorageSpec): Handler<KeyInput & Ranged, ByteReply> =>
    (input, context) =>
      download(spec, context, input),

  /** Service.md "Download behaviour" 12: the object in memory, its tag that of its bytes. */
  downloadBuffered:
    (spec: StorageSpec): Handler<KeyInput & Ranged, ByteReply> =>
    (input, context) =>
      downloadBuffered(spec, context, input),

  head:
    (spec: StorageSpec): Handler<KeyInput & Ranged, ByteReply> =>
    async ({ key }, context) =>
      headReply(context, await headOf(spec, context, key)),

  /**
   * The head of an object that is downloaded from memory: its tag is that of its bytes here too.
   */
  headBuffered:
    (spec: StorageSpec): Handler<KeyInput & Ranged, ByteReply> =>
    async ({ key }, context) =>
      headReply(context, (await bufferObject(spec, context, key)).head),

  /** A whole object, streamed. */
  downloadStream:
    (spec: StorageSpec): Handler<KeyInput, ByteReply> =>
    (input, context) =>
      download(spec, context, input),

  /** One window of an object. */
  downloadRange:
    (spec: StorageSpec): Handler<KeyInput & { readonly range: string }, ByteReply> =>
    (input, context) =>
      download(spec, context, input),

  delete:
    (spec: StorageSpec): Handler<KeyInput, undefined> =>
    ({ key }, context) =>
      remove(spec, context, key, async () => {
        const head = await headOf(spec, context, key);
        return { version: head, etag: head.etag };
      }),

  /** As `delete`, by the tag of the bytes. */
  deleteBuffered:
    (spec: StorageSpec): Handler<KeyInput, undefined> =>
    ({ key }, context) =>
      remove(spec, context, key, async () => {
        const { head, etag } = await bufferObject(spec, context, key);
        return { version: head, etag };
      }),
};

/** How often a version is looked at that another one replaces before it is removed. */
const maxAttempts = 8;

/**
 * Removes an object, or the very version for which the preconditions hold: one that is written
 * meanwhile stays.
 */
async function remove(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  look: () => Promise<{ readonly version: Validators; readonly etag: string }>,
): Promise<undefined> {
  const { preconditions } = context;
  const asked = physicalKey(spec, context.tenant, key);
  // A version is looked at only where something depends on it.
  if (preconditions === noPreconditions) {
    if (!(await removeAsAsked(spec, context, asked))) throw fail("core.not_found");
    return undefined;
  }
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { version, etag } = await look();
    checkPreconditions(preconditions, version);
    if (await removeAsAsked(spec, context, asked, etag)) return undefined;
  }
  throw fail("core.concurrency");
}

async function headOf(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
): Promise<ObjectHead> {
  const asked = physicalKey(spec, context.tenant, key);
  const head = await readable(spec, context).head(asked, context.signal);
  if (head === null) throw fail("core.not_found");
  return head;
}

function headReply({ preconditions }: ExecutionContext, head: ObjectHead): ByteReply {
  const headers = { ...headersOfObject(head), "Content-Length": String(head.size) };
  return decidedReply(preconditions, head) ?? new ByteReply(200, headers, null);
}

/**
 * An object in memory: its head with the tag of its bytes, and the tag that its store has for it.
 */
async function bufferObject(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
): Promise<{ readonly head: ObjectHead; readonly etag: string; readonly bytes: Buffer }> {
  const asked = physicalKey(spec, context.tenant, key);
  const opened = await readable(spec, context).open(asked, { signal: context.signal });
  if (opened === null) throw fail("core.not_found");
  const bytes = await buffer(opened.body);
  const etag = createHash("sha256").update(bytes).digest("hex");
  return { head: { ...opened.head, etag }, etag: opened.head.etag, bytes };
}

function download(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, ...range }: KeyInput & Ranged,
): Promise<ByteReply> {
  const conditions = { ...context.preconditions, ...range };
  const store = readable(spec, context);
  const asked = physicalKey(spec, context.tenant, key);
  return downloadReply(store, asked, conditions, spec.maxRangeBytes, context.signal);
}

async function downloadBuffered(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, ...range }: KeyInput & Ranged,
): Promise<ByteReply> {
  const conditions = { ...context.preconditions, ...range };
  const { head, bytes } = await bufferObject(spec, context, key);
  const decided = decidedReply(conditions, head);
  if (decided !== null) return decided;
  const window = askedWindow(conditions, head, bytes.length, bytes.length);
  const headers = headersOfObject(head);
  if (window === undefined) {
    const whole = { ...headers, "Content-Length": String(bytes.length) };
    return new ByteReply(200, whole, Readable.from([bytes]));
  }
  const slice = bytes.subarray(window.first, window.last + 1);
  const part = { ...headers, ...partial(window, bytes.length) };
  return new ByteReply(206, part, Readable.from([slice]));
}

/** Bytes of a form besides its file: the text fields and the headers of the parts. */
const maxFormBytes = 128 * 1024;

async function upload(
  spec: StorageSpec,
  context: ExecutionContext,
  form: IncomingForm,
): Promise<StoredObject> {
  const { maxUploadBytes } = spec;
  if (maxUploadBytes !== null && (form.declaredBytes ?? 0) > maxUploadBytes + maxFormBytes)
    throw tooLarge(maxUploadBytes);
  if (spec.scan !== undefined) return uploadForScan(spec, context, form);
  const head = await form.receive(
    {
      store: (file) => writeFile(spec, context, file),
      late: (before, fields) => renameObject(spec, context, before, fields),
      undo: async ({ key }) => void (await discardObject(spec, context, key)),
    },
    context.signal,
  );
  await recordObject(spec, context, head.key, "write");
  return storedObject(spec, context, head);
}

async function writeFile(
  spec: StorageSpec,
  context: ExecutionContext,
  file: IncomingFile,
): Promise<ObjectHead> {
  const { key, content, description } = await describeFile(spec, file);
  return writeObject(spec, context, physicalKey(spec, context.tenant, key), content, description);
}

async function describeFile(
  spec: StorageSpec,
  { filename, fields, content }: IncomingFile,
): Promise<{
  readonly key: string;
  readonly content: AsyncIterable<Buffer>;
  readonly description: ObjectDescription;
}> {
  const { key, about } = namedBy(fields);
  const typed = await admitType(spec, limitBytes(content, spec.maxUploadBytes), { filename });
  return {
    key,
    content: typed.content,
    description: { contentType: typed.type, filename, ...about },
  };
}

/** An upload that is no object yet, and is answered as the one that it may become. */
async function uploadForScan(
  spec: StorageSpec,
  context: ExecutionContext,
  form: IncomingForm,
): Promise<StoredObject> {
  const { key, upload } = await form.receive<{
    readonly key: string;
    readonly upload: Quarantined;
  }>(
    {
      async store(file) {
        const { key, content, description } = await describeFile(spec, file);
        physicalKey(spec, context.tenant, key);
        return { key, upload: await writeQuarantined(spec, context, key, content, description) };
      },
      async late({ upload: before }, fields) {
        const { contentType, filename } = before.head;
        const { key, about } = namedBy(fields);
        const description = { contentType, filename, ...about };
        const upload = await renameQuarantined(spec, context, before, key, description);
        if (upload === null) throw fail("core.concurrency");
        return { key, upload };
      },
      undo: async ({ upload }) => void (await discardUpload(spec, context, upload)),
    },
    context.signal,
  );
  await scanWritten(spec, context, upload);
  const head = { ...upload.head, key: physicalKey(spec, context.tenant, key) };
  return storedObject(spec, context, head);
}

/**
 * The key, the description and the tags of a new object, from the text fields of its form. Throws
 * `core.validation`.
 */
function namedBy({ prefix, description, tags }: IncomingFile["fields"]): {
  readonly key: string;
  readonly about: Pick<ObjectDescription, "description" | "tags">;
} {
  const key = prefix === undefined || prefix === "" ? uuidv7() : `${prefix}/${uuidv7()}`;
  checkKey(key, "/prefix");
  checkTexts({ description });
  const named = readTags(tags);
  const isTagged = Object.keys(named).length > 0;
  return { key, about: { description: description ?? null, ...(isTagged ? { tags: named } : {}) } };
}

/**
 * An object under the name that fields behind its file give it: engines keep key and description
 * with the bytes.
 */
async function renameObject(
  spec: StorageSpec,
  context: ExecutionContext,
  before: ObjectHead,
  fields: IncomingFile["fields"],
): Promise<ObjectHead> {
  const { contentType, filename } = before;
  const { key, about } = namedBy(fields);
  const after = physicalKey(spec, context.tenant, key);
  const head = await copyObject(spec, context, before, after, { contentType, filename, ...about });
  if (head === null) throw fail("core.concurrency");
  await removeObject(spec, context, before.key);
  return head;
}
