// Which versions of HTTP are served: 1.0 and 1.1.
import type { IncomingMessage } from "node:http";
import { fail } from "../contract/errors.js";

/**
 * Throws `http_malformed` if the request line has another major version, which Node's parser
 * lets pass: a message of HTTP/2 doesn't have this form, and one of HTTP/0.9 has no fields (RFC
 * 9110 §2.5, RFC 9112 §2.3).
 */
export function checkHttpVersion(req: IncomingMessage): void {
  if (req.httpVersionMajor === 1) return;
  throw fail("http_malformed", {}, { headers: { Connection: "close" } });
}
