// Cross-origin reading (Fetch Standard "CORS protocol"): denied, but for the origins that the deployment names.
import type { RequestHandler } from "./front-handler.js";

const readable = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Range",
  "ETag",
  "Idempotency-Replayed",
  "Last-Modified",
  "Retry-After",
  "X-Correlation-ID",
  "X-Error-Code",
  "X-Request-ID",
];

/** Answers preflights and marks answers for these origins; without any, it does nothing and loads nothing. */
export async function corsHandler(origins: readonly string[]): Promise<RequestHandler> {
  if (origins.length === 0) return (_req, _res, next) => next?.();
  const { default: cors } = await import("cors");
  const handle = cors({
    origin: [...origins],
    credentials: true,
    exposedHeaders: readable,
    maxAge: 600,
  });
  return (req, res, next) => handle(req, res, next ?? (() => undefined));
}
