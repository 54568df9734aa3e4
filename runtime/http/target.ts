// The request target (RFC 9112 §3.2), normalized before anything reads it.
import type { IncomingMessage } from "node:http";
import { fail } from "../contract/errors.js";

const absolute = /^https?:\/\/([^/?#]*)(.*)$/i;

/**
 * Turns the target of a request into a path. An absolute target loses its authority, which then
 * counts as `Host` (§3.2.2); letters that are percent-encoded without need are decoded (RFC 3986
 * §6.2.2.2). Throws `http_malformed` if an authority has no host.
 */
export function normalizeTarget(req: IncomingMessage): void {
  const { url = "" } = req;
  if (url.charCodeAt(0) === 0x2f && !url.includes("%")) return;
  let target = url;
  const [, authority, rest] = absolute.exec(url) ?? [];
  if (authority !== undefined && rest !== undefined) {
    // RFC 9110 §4.2.1: a URI without a host is invalid.
    if (/^(?::|$)/.test(authority)) throw fail("http_malformed");
    target = rest.startsWith("/") ? rest : `/${rest}`;
    req.headers.host = authority;
  }
  const path = pathOf(target);
  req.url = withoutNeedlessEscapes(path) + target.slice(path.length);
}

function withoutNeedlessEscapes(path: string): string {
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (escape, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape;
  });
}

/** The path of a target. */
export function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end < 0 ? target : target.slice(0, end);
}
