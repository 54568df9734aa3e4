// Invocation metadata from request headers: ids, trace context, idempotency key, deadline budget
// (service.md "Idempotency and invocation metadata", W3C Trace Context §3.2).
import type { IncomingHttpHeaders } from "node:http";
import { fail } from "../../contract/errors.js";
import { isIdempotencyKey } from "../../contract/limits.js";
import { readTraceparent } from "../../contract/traceparent.js";
import type { InvocationMetadata } from "../../operations/invocation-facts.js";
import { isUuid } from "../../contract/uuid.js";
import { uuidv7 } from "../../ports/uuid.js";
import { monotonicMillis } from "../../ports/ambient.js";

/**
 * The ids of a request. A malformed id from the caller is replaced by a fresh one, never refused.
 */
export function readMetadata(headers: IncomingHttpHeaders): InvocationMetadata {
  const requestId = uuidv7();
  const correlation = headers["x-correlation-id"];
  const causation = headers["x-causation-id"];
  return {
    requestId,
    correlationId: wellFormed(correlation) ?? requestId,
    causationId: wellFormed(causation) ?? requestId,
    traceparent: readTraceparent(headers["traceparent"]),
  };
}

/** W3C `tracestate` of a request; several fields are one list (Trace Context §3.3.1). */
export function readTracestate({ tracestate }: IncomingHttpHeaders): string | undefined {
  return Array.isArray(tracestate) ? tracestate.join(",") : tracestate;
}

function wellFormed(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" && isUuid(header) ? header.toLowerCase() : undefined;
}

/** The Idempotency-Key: 1 to 255 visible ASCII characters, else `idempotency_key_malformed`. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (!isIdempotencyKey(key)) throw fail("idempotency_key_malformed");
  return key;
}

/**
 * The deadline of a request on the monotonic clock, in milliseconds: the operation's own, which
 * `X-Deadline-Budget` (seconds) may only tighten. Infinity where neither sets one. Throws
 * `deadline_malformed`.
 */
export function readDeadline(headers: IncomingHttpHeaders, planned: number | undefined): number {
  const header = headers["x-deadline-budget"];
  if (header === undefined)
    return planned === undefined ? Infinity : monotonicMillis() + planned * 1000;
  if (
    typeof header !== "string" ||
    !/^\d{1,9}(?:\.\d{1,9})?$/.test(header) ||
    Number(header) <= 0
  ) {
    throw fail("deadline_malformed");
  }
  return monotonicMillis() + Math.min(Number(header), planned ?? Infinity) * 1000;
}
