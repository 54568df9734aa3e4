// Downloads: whole objects, parts and nothing, as conditions and ranges have it (service.md
// "Download behaviour").
import { create as contentDisposition } from "content-disposition";
import { fail } from "../../contract/errors.js";
import { ByteReply } from "../../operations/byte-reply.js";
import { isUnchanged, type Validators } from "../../operations/preconditions.js";
import { rangeCounts, type Conditions } from "./conditions.js";
import type { ByteWindow, ObjectHead } from "../../ports/object-head.js";
import type { ObjectStore } from "../../ports/objects.js";
import { windowOf } from "./range.js";
import { epochMillis } from "../../ports/ambient.js";

/** Times that an object may be replaced between its head and its bytes before we give up. */
const patience = 3;

/**
 * Answers a download of an engine's key. A plain request opens the object at once; a condition or a
 * range looks at its head first, and then at the bytes of that very version. Throws
 * `core.not_found`, `precondition_failed`, `range_not_satisfiable`, `core.concurrency`.
 */
export async function downloadReply(
  store: ObjectStore,
  key: string,
  conditions: Conditions,
  maxRangeBytes: number,
  signal: AbortSignal,
): Promise<ByteReply> {
  if (Object.keys(conditions).length === 0) {
    const reply = await bytesOf(store, key, {}, signal);
    if (reply === null) throw fail("core.not_found");
    return reply;
  }
  for (let attempt = 0; attempt < patience; attempt += 1) {
    const head = await store.head(key, signal);
    if (head === null) throw fail("core.not_found");
    const decided = decidedReply(conditions, head);
    if (decided !== null) return decided;
    const window = askedWindow(conditions, head, head.contentSize, maxRangeBytes);
    const reply = await bytesOf(store, key, { window, etag: head.etag }, signal);
    if (reply !== null) return reply;
  }
  throw fail("core.concurrency");
}

/**
 * The window that counts; undefined is the whole object, which one that is sealed in one piece
 * always is. Throws `range_not_satisfiable`.
 */
export function askedWindow(
  { range, ifRange }: Conditions,
  validators: Validators & Pick<ObjectHead, "isOnePiece">,
  size: number,
  maxBytes: number,
): ByteWindow | undefined {
  if (validators.isOnePiece === true || !rangeCounts(ifRange, validators, epochMillis()))
    return undefined;
  const window = windowOf(range, size, maxBytes);
  if (window !== "unsatisfiable") return window ?? undefined;
  throw fail("range_not_satisfiable", {}, { headers: { "Content-Range": `bytes */${size}` } });
}

/**
 * What the conditions decide without bytes: 304 with the validators echoed (RFC 9110 §15.4.5), or
 * null. Throws `precondition_failed`.
 */
export function decidedReply(conditions: Conditions, head: ObjectHead): ByteReply | null {
  return isUnchanged(conditions, head) ? new ByteReply(304, validatorHeaders(head), null) : null;
}

/** The bytes of an object as a reply; null if it is not there, or is another version by now. */
async function bytesOf(
  store: ObjectStore,
  key: string,
  { window, etag }: { readonly window?: ByteWindow | undefined; readonly etag?: string },
  signal: AbortSignal,
): Promise<ByteReply | null> {
  const options = {
    ...(window === undefined ? {} : { window }),
    ...(etag === undefined ? {} : { etag }),
    signal,
  };
  const opened = await store.open(key, options);
  if (opened === null) return null;
  const { head, body } = opened;
  if (signal.aborted) {
    body.destroy();
    signal.throwIfAborted();
  }
  const headers = headersOfObject(head);
  if (opened.window !== null)
    return new ByteReply(206, { ...headers, ...partial(opened.window, head.contentSize) }, body);
  // A body that is decrypted on the way tells its length by its end.
  const whole =
    head.contentSize === head.size ? { ...headers, "Content-Length": String(head.size) } : headers;
  return new ByteReply(200, whole, body);
}

/** Headers of a part. */
export function partial(
  { first, last }: ByteWindow,
  size: number,
): Readonly<Record<string, string>> {
  return {
    "Content-Range": `bytes ${first}-${last}/${size}`,
    "Content-Length": String(last - first + 1),
  };
}

function validatorHeaders({ etag, modifiedAt }: ObjectHead): Readonly<Record<string, string>> {
  return {
    ETag: `"${etag}"`,
    "Last-Modified": new Date(modifiedAt).toUTCString(),
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "sandbox",
  };
}

/**
 * What every answer with an object says of it: no browser runs what it is sent as a page of this
 * origin.
 */
export function headersOfObject(head: ObjectHead): Readonly<Record<string, string>> {
  return {
    ...validatorHeaders(head),
    "Content-Type": head.contentType,
    "Content-Disposition": contentDisposition(head.filename, { type: "attachment" }),
    "Accept-Ranges": head.isOnePiece === true ? "none" : "bytes",
  };
}
