// Exactly one valid Host field (RFC 9112 §3.2): otherwise a proxy and we could understand the
// request differently.
import type { IncomingMessage } from "node:http";
import { fail } from "../contract/errors.js";

/**
 * A registered name, an IPv4 address or one in brackets, and a port (RFC 3986 §3.2.2); empty where
 * there is no authority.
 */
const host =
  /^(?:(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*|\[[0-9A-Fa-f:.]+\])(?::(\d{0,5}))?$/;
/** The last valid one, since most requests have the same. */
let known = "";

function isSound(given: string): boolean {
  if (given === known) return true;
  const match = given.length > 300 ? null : host.exec(given);
  if (match === null || Number(match[1] ?? 0) > 65_535) return false;
  known = given;
  return true;
}

/**
 * Throws `http_malformed` if the Host field is malformed or repeated, or missing from an
 * HTTP/1.1 request.
 */
export function checkHost(req: IncomingMessage): void {
  const raw = req.rawHeaders;
  let hosts = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  const isOne = hosts === 1 || (hosts === 0 && req.httpVersion === "1.0");
  if (isOne && isSound(req.headers.host ?? "")) return;
  throw fail("http_malformed", {}, { headers: { Connection: "close" } });
}
