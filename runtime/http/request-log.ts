// One log line per request: path, operation, status, duration; no query and no credential
// (decisions.md §3).
import type { Log } from "../ports/log.js";
import { directPath } from "../ports/direct-addresses.js";
import { idsOf } from "../ports/tracer.js";
import type { Exchange } from "./exchange.js";

/** Requests that take longer are marked, in milliseconds. */
const slowMillis = 1_000;
/** Characters of a path. */
const maxPath = 200;
const longSegment = /[^/]{37,}/g;

/** Writes the line of an exchange that has ended. */
export function logRequest(log: Log, exchange: Exchange): void {
  const { req, res, operation, requestId, code, caller, tenant, isAborted } = exchange;
  const millis = exchange.endedAt - exchange.startedAt;
  const isRefused = res.statusCode === 429 || res.statusCode === 503;
  log.info(
    {
      ...idsOf(exchange.traceparent),
      request: {
        id: requestId,
        method: req.method,
        path: pathOf(req.url ?? ""),
        operation,
        status: isAborted && !res.headersSent ? null : res.statusCode,
        millis: Math.round(millis * 10) / 10,
        ...(code === null ? {} : { code }),
        ...(caller === null ? {} : { caller, tenant }),
        ...(isAborted ? { aborted: true } : {}),
        ...(isRefused ? { refused: true } : {}),
        ...(millis > slowMillis ? { slow: true } : {}),
      },
    },
    "request",
  );
}

/**
 * The path without what may be a secret: its query, and segments that are longer than a UUID. A
 * signed address is one.
 */
function pathOf(url: string): string {
  if (url.startsWith(directPath)) return `${directPath}…`;
  const [path = ""] = url.split("?", 1);
  return path.replaceAll(longSegment, "…").slice(0, maxPath);
}
