// The span of a request for an operation (OpenTelemetry, "Semantic conventions for HTTP server
// spans"). What callers send is left out: the path with its ids, the query, who is calling.
import type { InvocationMetadata } from "../operations/invocation-facts.js";
import type { AnyRoute } from "../operations/operation.js";
import type { TraceSpan, Tracer } from "../ports/tracer.js";
import { readTracestate } from "./input/metadata.js";
import type { Exchange } from "./exchange.js";

/** A request as the operation knows it, and what it is in a trace. */
export interface TracedRequest {
  readonly metadata: InvocationMetadata;
  readonly trace: TraceSpan | null;
}

/** Begins the span of a request, which ends with the answer. */
export function beginRequest(
  tracer: Tracer | null,
  exchange: Exchange,
  { method, path, operationId }: AnyRoute,
  metadata: InvocationMetadata,
): TracedRequest {
  if (tracer === null) {
    exchange.traceparent = metadata.traceparent;
    return { metadata, trace: null };
  }
  const { req } = exchange;
  const tracestate = readTracestate(req.headers);
  const origin = { traceparent: metadata.traceparent, tracestate, outer: exchange.outer };
  // A route of GET answers HEAD as well.
  const asked = req.method === "HEAD" ? "HEAD" : method;
  const { traceparent, span } = tracer.begin(`${asked} ${path}`, "server", origin, {
    "http.request.method": asked,
    "http.route": path,
    "network.protocol.version": req.httpVersion,
    "opwright.operation": operationId,
  });
  exchange.traceparent = traceparent;
  if (span !== null) exchange.whenEnded((ended) => endRequest(span, ended));
  return { metadata: { ...metadata, traceparent }, trace: span };
}

/**
 * A refusal is the caller's doing, and no failure of the span (ibid., "Status"). So is it if the
 * caller leaves before the answer.
 */
function endRequest(span: TraceSpan, { res, code, isAborted }: Exchange): void {
  const { statusCode, headersSent } = res;
  if (headersSent) span.note({ "http.response.status_code": statusCode });
  if (code !== null) span.note({ "opwright.code": code });
  if (isAborted) span.note({ "opwright.aborted": true });
  const hasLeft = isAborted && code === "core.timeout";
  if (statusCode >= 500 && !hasLeft) span.fail(code ?? String(statusCode));
  span.end();
}
