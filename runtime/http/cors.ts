// Cross-origin reading (Fetch Standard "CORS protocol"): denied, except for the origins that the
// deployment names, and in development for the other names of the service's own address.
import type { IncomingMessage } from "node:http";
import { answerHeaders } from "../contract/answer-headers.js";
import type { RequestHandler } from "./front-handler.js";
import { securityHeaders } from "./security-headers.js";

const readable = Object.entries(answerHeaders).flatMap(([name, { isExposed }]) =>
  isExposed ? [name] : [],
);

/**
 * Marks answers for these origins, and answers preflights of known paths; other preflights are
 * passed on. Siblings are the other names of our own address in development, which are known once
 * the service listens. Without either it does nothing and loads nothing. `further` are headers that
 * handlers set, which pages may read as well.
 */
export async function corsHandler(
  [named, siblings]: readonly [readonly string[], readonly string[] | null],
  isKnown: (req: IncomingMessage) => boolean,
  further: readonly string[],
): Promise<RequestHandler> {
  if (named.length === 0 && siblings === null) return (_req, _res, next) => next?.();
  const { default: cors } = await import("cors");
  const options = {
    credentials: true,
    exposedHeaders: [...readable, ...further],
    maxAge: 600,
    preflightContinue: true,
  };
  const ofOthers = cors({ ...options, origin: [...named] });
  const ofSibling = cors({ ...options, origin: true });
  return (req, res, next) => {
    const isSibling = siblings?.includes(req.headers.origin ?? "") === true;
    if (named.length === 0 && !isSibling) return next?.();
    const handle = isSibling ? ofSibling : ofOthers;
    return handle(req, res, () => {
      const isPreflight =
        req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined;
      if (!isPreflight || !isKnown(req)) return next?.();
      res.writeHead(204, { "Content-Length": "0", ...securityHeaders });
      res.end();
    });
  };
}
