// `Expect` (RFC 9110 §10.1.1): the head of a request is judged first; the body is requested when it
// is first read.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { fail } from "../contract/errors.js";
import { readMetadata } from "./input/metadata.js";
import { holdBody } from "./input/read-body.js";
import { replyError } from "./reply.js";

type Take = (
  req: IncomingMessage,
  res: ServerResponse,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
) => void;

/**
 * Takes requests with `Expect`. For 100-continue, the body is requested at its first read, unless
 * the answer has begun by then; any other expectation is 417.
 */
export function takeExpectations(
  server: Server,
  take: Take,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    holdBody(req, () => {
      if (!res.headersSent) res.writeContinue();
    });
    take(req, res, answer);
  });
  server.on("checkExpectation", (req: IncomingMessage, res: ServerResponse) => {
    take(req, res, () =>
      replyError(req, res, readMetadata(req.headers), fail("expectation_failed")),
    );
  });
}
