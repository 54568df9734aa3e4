// Exactly one Host field (RFC 9112 §3.2): with none or two, a proxy and we could read the request differently.
import type { IncomingMessage } from "node:http";
import { fail } from "../contract/errors.js";

/** Throws `http_malformed` where the Host field is repeated, or missing from an HTTP/1.1 request. */
export function checkHost(req: IncomingMessage): void {
  const raw = req.rawHeaders;
  let hosts = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && req.httpVersion === "1.0")) return;
  throw fail("http_malformed", {}, { headers: { Connection: "close" } });
}
