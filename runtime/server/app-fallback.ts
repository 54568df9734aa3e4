// Requests that no route matches: the author's app, the documentation, or 404.
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail } from "../contract/errors.js";
import type { RequestHandler } from "../http/front-handler.js";
import { readMetadata } from "../http/input/metadata.js";
import { replyError } from "../http/reply.js";
import type { Log } from "../ports/log.js";
import type { ServiceDefinition } from "./service.js";

/** Answers a request, or returns false if it is not its to answer. */
export type Answers = (req: IncomingMessage, res: ServerResponse) => boolean;

/**
 * Handles requests that no route matches: first by the author's app, then by the documentation.
 * What is left gets a 404, or the error that the app threw, masked.
 */
export function appFallback(
  service: ServiceDefinition,
  log: Log,
  answerDocs: Answers,
): (
  req: Parameters<RequestHandler>[0],
  res: Parameters<RequestHandler>[1],
  error?: unknown,
) => void {
  return (req, res, error) => {
    const refuse = (fault: unknown): void => {
      if (fault === undefined && answerDocs(req, res)) return;
      if (fault !== undefined) log.error({ err: fault }, "the app failed");
      replyError(req, res, readMetadata(req.headers), fault ?? fail("route_not_found"));
    };
    if (error !== undefined || service.app === undefined) {
      refuse(error);
      return;
    }
    try {
      const answered = service.app(req, res, refuse);
      if (answered instanceof Promise) answered.catch(refuse);
    } catch (fault) {
      refuse(fault);
    }
  };
}
