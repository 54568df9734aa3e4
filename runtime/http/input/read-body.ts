// Reading a JSON request body: media type, size and syntax, before anything looks at its content.
import { isUtf8 } from "node:buffer";
import { IncomingMessage } from "node:http";
import { fail, ServiceError } from "../../contract/errors.js";
import { Lifetime } from "../../ports/lifetime.js";
import { parseStrictJson } from "./strict-json.js";

/**
 * Reads and parses the body, and passes it to `take`. Throws `media_type_unsupported`,
 * `body_too_large` (from Content-Length before reading, otherwise at the byte that exceeds
 * `maxBytes`), or an error of `parseStrictJson`.
 */
export function readJsonBody<T>(
  req: IncomingMessage,
  maxBytes: number,
  take: (content: unknown) => T,
): Promise<T> {
  if (!isJsonMediaType(req.headers["content-type"])) throw refuseContentType(req);
  if (isEncoded(req)) throw refuseContentType(req);
  return readBytes(req, maxBytes, (bytes) => take(parseStrictJson(bytes)));
}

/**
 * Reads the bytes of a body as they were sent, whatever they are. Throws `body_too_large`, as
 * `readJsonBody` does.
 */
export function readBytes<T>(
  req: IncomingMessage,
  maxBytes: number,
  take: (bytes: Buffer) => T,
): Promise<T> {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > maxBytes) {
    throw fail("body_too_large", { max_bytes: maxBytes }, { headers: { Connection: "close" } });
  }
  // A caller who has left meanwhile sends nothing more, and causes no event either.
  if (req.closed) throw endOf(req);
  return readWhole(req, maxBytes, patienceMillis, take);
}

const jsonType = /^application\/(?!json-patch\+json$)(?:json|[a-z0-9!#$&^_.-]+\+json)$/;
const formType = /^application\/x-www-form-urlencoded$/;

/**
 * Reads a form without files, undecoded. Throws `media_type_unsupported`, `parameter_malformed` for
 * text that isn't UTF-8, and `body_too_large`.
 */
export function readFormText<T>(
  req: IncomingMessage,
  maxBytes: number,
  take: (text: string) => T,
): Promise<T> {
  if (!isInUtf8(req.headers["content-type"], formType) || isEncoded(req))
    throw refuseContentType(req);
  return readBytes(req, maxBytes, (bytes) => {
    if (!isUtf8(bytes)) throw fail("parameter_malformed");
    return take(bytes.toString());
  });
}

function isEncoded({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"];
  return encoding !== undefined && encoding.toLowerCase() !== "identity";
}

/**
 * Bytes of a body that says nothing: none, or an empty object, which some clients send with every
 * POST.
 */
const sayingNothing = /^\s*(?:\{\s*\}\s*)?$/;
const fewBytes = 64;

/**
 * Reads the body of a request for an operation that takes none. What it says would be dropped
 * silently, so anything but an empty object is `core.validation`, whatever its media type. It has
 * as long as the operation.
 */
export async function expectNoBody(req: IncomingMessage): Promise<void> {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > fewBytes) throw unexpectedBody();
  if (req.closed) throw endOf(req);
  await readWhole(req, fewBytes, null, (bytes) => {
    if (!sayingNothing.test(bytes.toString("latin1"))) throw unexpectedBody();
  }).catch((error: unknown) => {
    throw error instanceof ServiceError && error.code === "body_too_large"
      ? unexpectedBody()
      : error;
  });
}

function unexpectedBody(): ServiceError {
  const message = "this operation takes no body";
  const errors = [{ path: "", keyword: "additionalProperties", message }];
  return fail("core.validation", { errors }, { headers: { Connection: "close" } });
}

/** The types that a patch may have; whoever sends another one is told (RFC 5789 §2.2). */
const patchTypes = "application/merge-patch+json, application/json";

function refuseContentType({ method }: IncomingMessage): ServiceError {
  const headers = method === "PATCH" ? { "Accept-Patch": patchTypes } : {};
  return fail("media_type_unsupported", {}, { headers });
}

/**
 * `application/json` or a `+json` type, in UTF-8 or without a charset (RFC 8259 §11). A JSON Patch
 * (RFC 6902) is a list of steps, and would be misunderstood as a merge patch or a value.
 */
export function isJsonMediaType(header: string | undefined): boolean {
  return header === "application/json" || isInUtf8(header, jsonType);
}

/** Whether a Content-Type is of these, and in UTF-8 as far as it says. */
function isInUtf8(header: string | undefined, types: RegExp): boolean {
  if (header === undefined || header.length > 256) return false;
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim().toLowerCase());
  return (
    types.test(type) &&
    parameters.every(
      (parameter) =>
        parameter === "" ||
        /^charset="?utf-8"?$/.test(parameter) ||
        /^(?!charset=)[\w!#$%&'*+.^`|~-]+=\S+$/.test(parameter),
    )
  );
}

/** Milliseconds for a whole JSON body. */
const patienceMillis = 30_000;

/** Reads a body to its end, within so many milliseconds if it isn't null. */
function readWhole<T>(
  req: IncomingMessage,
  maxBytes: number,
  millis: number | null,
  parse: (bytes: Buffer) => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // Most bodies come with their head, and need no timer.
    const lifetime = millis === null ? Lifetime.unlimited() : Lifetime.within(millis);
    const done = lifetime.onOver(() =>
      reject(fail("request_timeout", {}, { headers: { Connection: "close" } })),
    );
    const chunks: Buffer[] = [];
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        done();
        req.pause();
        req.removeAllListeners("data");
        reject(
          fail("body_too_large", { max_bytes: maxBytes }, { headers: { Connection: "close" } }),
        );
        return;
      }
      chunks.push(chunk);
    });
    req.on("end", () => {
      done();
      const [only] = chunks;
      let content: T;
      try {
        content = parse(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
      } catch (error) {
        reject(error as Error);
        return;
      }
      resolve(content);
    });
    req.on("error", (cause) => reject(endOf(req, cause)));
    // A caller who leaves halfway causes no `end`, and not always an error.
    req.on("close", () => {
      done();
      if (!req.complete) reject(endOf(req));
    });
  });
}

/** Why bodies end that can't be read to their end. */
const broken = new WeakMap<IncomingMessage, ServiceError>();

/** Ends a body whose rest is malformed: whoever reads it gets this error, and can still answer. */
export function breakBody(req: IncomingMessage, error: ServiceError): void {
  broken.set(req, error);
  // Node's own would take the connection with it.
  req._destroy = (cause, done) => {
    req.emit("aborted");
    done(req.listenerCount("error") > 0 ? cause : null);
  };
  req.destroy(error);
}

/** Why a body that isn't complete has ended. */
function endOf(req: IncomingMessage, cause?: Error): ServiceError {
  return broken.get(req) ?? fail("core.malformed", {}, { cause });
}

/** Requests whose body has not been requested yet. */
const held = new WeakSet<IncomingMessage>();

/**
 * Calls `asked` at the first read of a body that its client holds back until then (RFC 9110
 * §10.1.1).
 */
export function holdBody(req: IncomingMessage, asked: () => void): void {
  held.add(req);
  req._read = (size) => {
    req._read = IncomingMessage.prototype._read;
    held.delete(req);
    asked();
    req._read(size);
  };
}

/** Whether the client waits until somebody reads its body. */
export function isBodyHeld(req: IncomingMessage): boolean {
  return held.has(req);
}

/** Whether the request carries a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
