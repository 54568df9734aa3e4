// The storage operations that generated routes name (service.md "Storage routes", "Download behaviour").
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { create as contentDisposition } from "content-disposition";
import { fail } from "../contract/errors.js";
import { ByteReply } from "../operations/byte-reply.js";
import type { ExecutionContext } from "../operations/context.js";
import type { Handler } from "../operations/operation.js";
import { uuidv7 } from "../operations/uuid.js";
import { evaluateConditions, rangeCounts, type Conditions } from "./conditions.js";
import { accepts, contentTypeOf } from "./content-type.js";
import type { IncomingFile, IncomingForm } from "./form.js";
import { checkKey, prefixOf } from "./key.js";
import { listObjects, type ObjectPage, type ObjectQuery } from "./list.js";
import type { ByteWindow, ObjectHead, ObjectStore } from "./port.js";
import { windowOf } from "./range.js";
import type { StorageSpec } from "./spec.js";
import { storedObject, type StoredObject } from "./stored-object.js";

export interface KeyInput {
  readonly key: string;
}

/** Handlers of the storage family. */
export const storage = {
  upload:
    (spec: StorageSpec): Handler<{ readonly form: IncomingForm }, StoredObject> =>
    ({ form }, context) =>
      upload(spec, context, form),

  list:
    (spec: StorageSpec): Handler<ObjectQuery, ObjectPage> =>
    (query, context) =>
      listObjects(spec, context, query),

  download:
    (spec: StorageSpec): Handler<KeyInput & Conditions, ByteReply> =>
    (input, context) =>
      download(spec, context, input),

  /** Service.md "Download behaviour" 12: the object in memory, its tag that of its bytes. */
  downloadBuffered:
    (spec: StorageSpec): Handler<KeyInput & Conditions, ByteReply> =>
    (input, context) =>
      downloadBuffered(spec, context, input),

  head:
    (spec: StorageSpec): Handler<KeyInput & Conditions, ByteReply> =>
    async ({ key, ...conditions }, context) => {
      const head = await headOf(spec, context, key);
      const outcome = evaluateConditions(conditions, head);
      if (outcome !== "proceed") return conditional(outcome, head);
      const headers = { ...describing(head), "Content-Length": String(head.size) };
      return new ByteReply(200, headers, null);
    },

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
    async ({ key }, context) => {
      const { objects } = context.resources;
      if (!(await objects.of(spec).remove(physical(spec, context, key))))
        throw fail("core.not_found");
      return undefined;
    },
};

/** The engine's key of what a client names. Throws `core.validation`. */
function physical(spec: StorageSpec, context: ExecutionContext, key: string): string {
  return prefixOf(spec.name, context.tenant) + checkKey(key, "/key");
}

async function headOf(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
): Promise<ObjectHead> {
  const head = await context.resources.objects.of(spec).head(physical(spec, context, key));
  if (head === null) throw fail("core.not_found");
  return head;
}

/** Times that an object may be replaced between its head and its bytes before we give up. */
const patience = 3;

/**
 * A plain request opens the object at once; a condition or a range looks at its head first, and then at the bytes of
 * that very version.
 */
async function download(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, ...conditions }: KeyInput & Conditions,
): Promise<ByteReply> {
  const store = context.resources.objects.of(spec);
  if (Object.keys(conditions).length === 0) {
    const reply = await bytesOf(store, context, physical(spec, context, key), {});
    if (reply === null) throw fail("core.not_found");
    return reply;
  }
  for (let attempt = 0; attempt < patience; attempt += 1) {
    const head = await headOf(spec, context, key);
    const outcome = evaluateConditions(conditions, head);
    if (outcome !== "proceed") return conditional(outcome, head);
    const window = askedWindow(conditions, head, head.contentSize, spec.maxRangeBytes);
    const reply = await bytesOf(store, context, head.key, { window, etag: head.etag });
    if (reply !== null) return reply;
  }
  throw fail("core.concurrency");
}

/** The window that counts; undefined is the whole object. Throws `range_not_satisfiable`. */
function askedWindow(
  { range, ifRange }: Conditions,
  validators: Pick<ObjectHead, "etag" | "modifiedAt">,
  size: number,
  maxBytes: number,
): ByteWindow | undefined {
  if (!rangeCounts(ifRange, validators, Date.now())) return undefined;
  const window = windowOf(range, size, maxBytes);
  if (window !== "unsatisfiable") return window ?? undefined;
  throw fail("range_not_satisfiable", {}, { headers: { "Content-Range": `bytes */${size}` } });
}

/** The bytes of an object as a reply; null where it is not there, or is another version by now. */
async function bytesOf(
  store: ObjectStore,
  context: ExecutionContext,
  key: string,
  { window, etag }: { readonly window?: ByteWindow | undefined; readonly etag?: string },
): Promise<ByteReply | null> {
  const options = {
    ...(window === undefined ? {} : { window }),
    ...(etag === undefined ? {} : { etag }),
  };
  const opened = await store.open(key, options);
  if (opened === null) return null;
  const { head, body } = opened;
  if (context.signal.aborted) {
    body.destroy();
    context.signal.throwIfAborted();
  }
  const headers = describing(head);
  if (opened.window !== null) {
    const { first, last } = opened.window;
    const length = String(last - first + 1);
    const part = `bytes ${first}-${last}/${head.contentSize}`;
    const partial = { ...headers, "Content-Range": part, "Content-Length": length };
    return new ByteReply(206, partial, body);
  }
  // What is decrypted on the way tells its length by its end.
  const whole =
    head.contentSize === head.size ? { ...headers, "Content-Length": String(head.size) } : headers;
  return new ByteReply(200, whole, body);
}

async function downloadBuffered(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, ...conditions }: KeyInput & Conditions,
): Promise<ByteReply> {
  const opened = await context.resources.objects.of(spec).open(physical(spec, context, key));
  if (opened === null) throw fail("core.not_found");
  const bytes = await buffer(opened.body);
  const etag = createHash("sha256").update(bytes).digest("hex");
  const head = { ...opened.head, etag };
  const outcome = evaluateConditions(conditions, head);
  if (outcome !== "proceed") return conditional(outcome, head);
  const window = askedWindow(conditions, head, bytes.length, bytes.length);
  const headers = describing(head);
  if (window === undefined) {
    const whole = { ...headers, "Content-Length": String(bytes.length) };
    return new ByteReply(200, whole, Readable.from([bytes]));
  }
  const { first, last } = window;
  const part = {
    "Content-Range": `bytes ${first}-${last}/${bytes.length}`,
    "Content-Length": String(last - first + 1),
  };
  const slice = bytes.subarray(first, last + 1);
  return new ByteReply(206, { ...headers, ...part }, Readable.from([slice]));
}

/** 412, or 304 with the validators echoed (RFC 9110 §15.4.5). */
function conditional(outcome: "failed" | "unchanged", head: ObjectHead): ByteReply {
  if (outcome === "failed") throw fail("core.precondition");
  return new ByteReply(304, validating(head), null);
}

function validating({ etag, modifiedAt }: ObjectHead): Readonly<Record<string, string>> {
  return {
    ETag: `"${etag}"`,
    "Last-Modified": new Date(modifiedAt).toUTCString(),
    "Cache-Control": "private, no-cache",
  };
}

/** What every answer with an object says of it: no browser runs what it is sent as a page of this origin. */
function describing(head: ObjectHead): Readonly<Record<string, string>> {
  return {
    ...validating(head),
    "Content-Type": head.contentType,
    "Content-Disposition": contentDisposition(head.filename, { type: "attachment" }),
    "Content-Security-Policy": "sandbox",
    "Accept-Ranges": "bytes",
  };
}

/** Bytes of a form besides its file: the text fields and the headers of the parts. */
const maxFormBytes = 128 * 1024;

const maxDescription = 2_000;

async function upload(
  spec: StorageSpec,
  context: ExecutionContext,
  form: IncomingForm,
): Promise<StoredObject> {
  const { maxUploadBytes } = spec;
  if (maxUploadBytes !== null && (form.declaredBytes ?? 0) > maxUploadBytes + maxFormBytes)
    throw tooLarge(maxUploadBytes);
  const store = context.resources.objects.of(spec);
  const head = await form.receive(
    (file) => writeFile(spec, context, file),
    async ({ key }) => void (await store.remove(key)),
  );
  return storedObject(spec, context, head);
}

async function writeFile(
  spec: StorageSpec,
  context: ExecutionContext,
  { filename, fields, content }: IncomingFile,
): Promise<ObjectHead> {
  const { prefix, description } = fields;
  const key = prefix === undefined || prefix === "" ? uuidv7() : `${prefix}/${uuidv7()}`;
  checkKey(key, "/prefix");
  if (description !== undefined && [...description].length > maxDescription) {
    const message = `must NOT have more than ${maxDescription} characters`;
    throw fail("core.validation", {
      errors: [{ path: "/description", keyword: "maxLength", message }],
    });
  }
  const typed = await contentTypeOf(bounded(content, spec.maxUploadBytes), filename);
  if (spec.accept !== null && !accepts(spec.accept, typed.type))
    throw fail("upload_type_unsupported", { content_type: typed.type });
  return context.resources.objects
    .of(spec)
    .write(
      physical(spec, context, key),
      typed.content,
      { contentType: typed.type, filename, description: description ?? null },
      context.signal,
    );
}

/** The content up to its limit. Throws `upload_too_large` at the byte that crosses. */
async function* bounded(
  content: AsyncIterable<Buffer>,
  maxBytes: number | null,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (maxBytes !== null && size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): Error {
  return fail("upload_too_large", { max_bytes: maxBytes }, { headers: { Connection: "close" } });
}
