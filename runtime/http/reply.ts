// Writing replies: status, headers and JSON in one call each, on Node's own response.
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { fail, headersOf, knownError, type ServiceError } from "../contract/errors.js";
import type { InvocationMetadata } from "../operations/invocation-facts.js";
import type { Outcome } from "../operations/idempotency.js";
import { ByteReply } from "../operations/byte-reply.js";
import type { SaidReply } from "../operations/reply-declaration.js";
import { usualEnvelope } from "../operations/error-envelope.js";
import { JsonText } from "../operations/json-text.js";
import { isUnchanged, readPreconditions } from "../operations/preconditions.js";
import { acceptedCoding, compressAnswer, type Coding } from "./content-coding.js";
import { Exchange } from "./exchange.js";
import { hasBody, isBodyHeld } from "./input/read-body.js";
import { securityHeaderList } from "./security-headers.js";
import { epochMillis, startTimer } from "../ports/ambient.js";

export const jsonType = "application/json; charset=utf-8";
const htmlType = "text/html; charset=utf-8";
/** A page of an error has a style sheet and nothing else. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Answers with the outcome of an operation: its status, its JSON or no body, its entity tag, 304
 * where that matches. Throws `precondition_failed`.
 */
export function replyOutcome(
  req: IncomingMessage,
  res: ServerResponse,
  metadata: InvocationMetadata,
  usualStatus: number,
  outcome: Outcome<unknown>,
  said?: SaidReply,
): void {
  const { output } = outcome;
  if (output instanceof ByteReply) {
    sendBytes(req, res, commonHeaders(metadata), output, said);
    return;
  }
  if (isGone(res)) return;
  const headers = commonHeaders(metadata);
  if (said !== undefined) headers.push(...said.fields);
  const status = said?.status ?? usualStatus;
  if (outcome.replayed) headers.push("Idempotency-Replayed", "true");
  const version = output instanceof JsonText ? output : undefined;
  if (version?.etag !== undefined) {
    const { etag, modifiedAt } = version;
    headers.push("ETag", etag, "Cache-Control", "private, no-cache", ...varyOf(res));
    // Within the same second there may be another version with the same date (RFC 9110 §8.8.2.1).
    if (modifiedAt !== undefined && epochMillis() - modifiedAt > 1_000)
      headers.push("Last-Modified", new Date(modifiedAt).toUTCString());
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (
      isRead &&
      isUnchanged(readPreconditions(req.headers), { etag: etag.slice(1, -1), modifiedAt })
    ) {
      // The tag and `Vary` that the whole answer would have (RFC 9110 §15.4.5).
      describeCoding(res, headers, codingOf(req, res, version.text));
      res.writeHead(304, headers);
      res.end();
      return;
    }
  } else {
    if (said?.fields.includes("cache-control") !== true) headers.push("Cache-Control", "no-store");
  }
  if (output === undefined) {
    res.writeHead(status, headers);
    res.end();
    return;
  }
  const text = output instanceof JsonText ? output.text : JSON.stringify(output);
  const coding = codingOf(req, res, text);
  describeCoding(res, headers, coding);
  if (coding === null || coding === "identity") sendJson(req, res, status, headers, text);
  else sendCompressed(req, res, status, headers, text, coding);
}

/** The coding of an answer with this text; null if it would be the same for every caller. */
function codingOf(req: IncomingMessage, res: ServerResponse, text: string): Coding | null {
  const least = Exchange.known(res)?.style.compressBytes ?? null;
  // A caller who hasn't sent the whole request yet is answered without waiting for the rest.
  if (least === null || text.length < least || (!req.complete && hasBody(req))) return null;
  return acceptedCoding(req.headers["accept-encoding"]);
}

/** Says in the headers of an answer that it depends on the codings that its caller accepts. */
function describeCoding(res: ServerResponse, headers: string[], coding: Coding | null): void {
  if (coding === null) return;
  addVary(headers, res);
  // Compressed, the same version has other bytes, so the tag is weak (RFC 9110 §8.8.3.3).
  const tag = headers.indexOf("ETag") + 1;
  if (coding !== "identity" && tag > 0) headers[tag] = `W/${headers[tag] ?? ""}`;
}

/** Answers with compressed JSON text. */
function sendCompressed(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: string[],
  text: string,
  coding: Exclude<Coding, "identity">,
): void {
  compressAnswer(coding, text).then(
    (bytes) => {
      if (res.destroyed) return;
      const length = String(bytes.length);
      headers.push("Content-Type", jsonType, "Content-Encoding", coding, "Content-Length", length);
      res.writeHead(status, headers);
      res.end(req.method === "HEAD" ? undefined : bytes);
    },
    () => res.destroy(),
  );
}

/** Says that the answer depends on the codings that its caller accepts. */
function addVary(headers: string[], res: ServerResponse): void {
  const at = headers.indexOf("Vary") + 1;
  if (at > 0) headers[at] = `${headers[at] ?? ""}, Accept-Encoding`;
  else {
    const before = res.getHeader("Vary");
    headers.push(
      "Vary",
      [...(before === undefined ? [] : [String(before)]), "Accept-Encoding"].join(", "),
    );
  }
}

/**
 * Answers with the envelope of an error. An error that is not of the table, or that cannot be
 * printed, becomes a masked `core.internal`.
 */
export function replyError(
  req: IncomingMessage,
  res: ServerResponse,
  metadata: InvocationMetadata,
  error: unknown,
): void {
  if (isGone(res)) return;
  const known = knownError(error);
  try {
    writeError(req, res, metadata, known);
  } catch (cause) {
    // A context that JSON can't express, or a header with a line break.
    writeError(req, res, metadata, fail("core.internal", {}, { cause }));
  }
}

function writeError(
  req: IncomingMessage,
  res: ServerResponse,
  metadata: InvocationMetadata,
  error: ServiceError,
): void {
  const headers = commonHeaders(metadata);
  const exchange = Exchange.known(res);
  if (exchange !== undefined) {
    exchange.code = error.code;
    exchange.requestId ??= metadata.requestId;
  }
  const errorPage = exchange?.style.errorPage ?? null;
  const printError = exchange?.style.printError ?? usualEnvelope;
  headers.push(
    "Cache-Control",
    "no-store",
    ...Object.entries(headersOf(error, exchange?.style.challenge)).flat(),
  );
  // Whoever follows a link sees a page; a script, whatever it accepts, gets the envelope.
  if (errorPage === null || req.headers["sec-fetch-dest"] !== "document") {
    sendJson(req, res, error.status, headers, printError(error));
    return;
  }
  headers[headers.indexOf("Content-Security-Policy") + 1] = pagePolicy;
  sendText(req, res, error.status, headers, errorPage(error), htmlType);
}

/**
 * Answers with JSON text. `headers` are names and values in turn, those of every answer among them.
 */
export function sendJson(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: string[],
  text: string,
): void {
  sendText(req, res, status, headers, text, jsonType);
}

function sendText(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: string[],
  text: string,
  type: string,
): void {
  const bytes = Buffer.byteLength(text);
  headers.push("Content-Type", type, "Content-Length", String(bytes));
  if (!req.complete && hasBody(req)) {
    if (!headers.includes("Connection")) headers.push("Connection", "close");
    res.writeHead(status, headers);
    if (req.method !== "HEAD") res.write(text);
    // A caller who waits for 100-continue sends no body now, and after a malformed one nothing is
    // read.
    if (isBodyHeld(req) || req.destroyed) res.end();
    else endAfterInput(req, res);
    return;
  }
  res.writeHead(status, headers);
  if (req.method === "HEAD") res.end();
  // ASCII is the same bytes either way, and Node.js writes them three times as fast as Latin-1.
  else res.end(text, bytes === text.length ? "latin1" : "utf8");
}

/** How much of a request is still read after its answer: bytes, and milliseconds. */
const lingering = { bytes: 16 * 1024 * 1024, millis: 1_000 };

/**
 * Ends an answer that came before the end of its request once what is on its way has been read: a
 * connection that is closed over unread bytes is reset, and the client may lose the answer (RFC
 * 9112 §9.6).
 */
function endAfterInput(req: IncomingMessage, res: ServerResponse): void {
  let read = 0;
  const end = (): void => {
    clearTimeout(timer);
    req.off("data", count);
    res.end();
  };
  const count = (chunk: Buffer): void => {
    read += chunk.length;
    if (read > lingering.bytes) end();
  };
  const timer = startTimer(end, lingering.millis);
  req.on("data", count);
  req.once("close", end);
  req.once("end", end);
  req.unpipe();
  req.resume();
}

/** Milliseconds that a client may read nothing of an answer before its connection is closed. */
const stalledMillis = 60_000;

/**
 * Answers with bytes as they come. If the source fails halfway the connection ends, so that no part
 * looks complete.
 */
function sendBytes(
  req: IncomingMessage,
  res: ServerResponse,
  common: readonly string[],
  { status, headers, body }: ByteReply,
  said?: SaidReply,
): void {
  if (isGone(res)) {
    body?.destroy();
    return;
  }
  const all = new Map<string, string>();
  for (let at = 0; at < common.length; at += 2) all.set(common[at] ?? "", common[at + 1] ?? "");
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  const [vary, fields] = varyOf(res);
  if (vary !== undefined && fields !== undefined) all.set(vary, fields);
  res.writeHead(said?.status ?? status, [...[...all].flat(), ...(said?.fields ?? [])]);
  if (body === null || req.method === "HEAD") {
    body?.destroy();
    res.end();
    return;
  }
  // What comes piece by piece may take its time: who waits for it knows at once that it comes.
  if (!all.has("Content-Length")) res.flushHeaders();
  res.setTimeout(stalledMillis, () => res.destroy());
  // Reset the connection: without a declared length, a normal end would look like a complete
  // answer.
  body.once("error", () => res.socket?.resetAndDestroy());
  pipeline(body, res, () => undefined);
}

/**
 * `Vary` of an answer that a browser may cache: the headers of credentials, and those set before
 * (`Origin`).
 */
function varyOf(res: ServerResponse): readonly string[] {
  const before = res.getHeader("Vary");
  const names = [
    ...(before === undefined ? [] : [String(before)]),
    ...(Exchange.known(res)?.style.callerFields ?? []),
  ];
  return names.length === 0 ? [] : ["Vary", names.join(", ")];
}

/** Whether nothing can be written any more: the reply has begun, or the caller has left. */
function isGone(res: ServerResponse): boolean {
  if (res.headersSent) {
    // A reply that failed half-way must not look complete.
    if (!res.writableEnded) res.destroy();
    return true;
  }
  return res.destroyed;
}

/** The names and values, in turn, that every answer has. */
export function commonHeaders(metadata: InvocationMetadata): string[] {
  return [
    "X-Request-ID",
    metadata.requestId,
    "X-Correlation-ID",
    metadata.correlationId,
    ...securityHeaderList,
  ];
}
