// Paths that are read only: probes, documents, pages.
import type { IncomingMessage, ServerResponse } from "node:http";
import { readMetadata } from "./input/metadata.js";
import { replyError } from "./reply.js";
import { methodNotAllowed } from "./route-table.js";

/**
 * Answers a GET or HEAD by `answer`, whose rejection is answered too, and refuses any other method
 * with 405.
 */
export function answerGet(
  req: IncomingMessage,
  res: ServerResponse,
  answer: () => Promise<void>,
): void {
  const refuse = (error: unknown): void => replyError(req, res, readMetadata(req.headers), error);
  if (req.method === "GET" || req.method === "HEAD") answer().catch(refuse);
  else refuse(methodNotAllowed(["GET", "HEAD"]));
}
