// Cross-origin reading (Fetch Standard "CORS protocol"): denied, except for the origins that the deployment names.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "./front-handler.js";
import { securityHeaders } from "./security-headers.js";

const readable = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Range",
  "Deprecation",
  "ETag",
  "Idempotency-Replayed",
  "Last-Modified",
  "Retry-After",
  "Sunset",
  "X-Correlation-ID",
  "X-Error-Code",
  "X-Request-ID",
];

/**
 * Marks answers for these origins, and answers preflights of known paths; other preflights are passed on. Without origins it
 * does nothing and loads nothing. `further` are headers that handlers set, which pages may read as well.
 */
export async function corsHandler(
  origins: readonly string[],
  isKnown: (req: IncomingMessage) => boolean,
  further: readonly string[],
): Promise<RequestHandler> {
  if (origins.length === 0) return (_req, _res, next) => next?.();
  const { default: cors } = await import("cors");
  const handle = cors({
    origin: [...origins],
    credentials: true,
    exposedHeaders: [...readable, ...further],
    maxAge: 600,
    preflightContinue: true,
  });
  return (req, res, next) =>
    handle(req, res, () => {
      const isPreflight =
        req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined;
      if (!isPreflight || !isKnown(req)) return next?.();
      res.writeHead(204, { "Content-Length": "0", ...securityHeaders });
      res.end();
    });
}
