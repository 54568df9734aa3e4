// The origin gate: a cookie comes along with requests that other sites start (OWASP CSRF Prevention Cheat Sheet).
import type { IncomingHttpHeaders } from "node:http";
import { fail } from "../contract/errors.js";

/** What the boundary looks at of a request. */
export interface BoundaryRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The host that the caller asked for, behind trusted proxies. */
  readonly host: () => string;
  /** Origins besides our own that may send cookies. */
  readonly allowedOrigins: readonly string[];
}

const safeMethods = ["GET", "HEAD", "OPTIONS"];

/**
 * Lets an unsafe request with a cookie pass only where the browser says that it comes from this service or an allowed
 * origin. Throws `origin_forbidden`, for a request that says nothing as well: what is no browser can send a header.
 */
export function checkOrigin({ method, headers, host, allowedOrigins }: BoundaryRequest): void {
  if (safeMethods.includes(method)) return;
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  const isOurs =
    origin === undefined
      ? site === "same-origin"
      : allowedOrigins.includes(origin) || hostOf(origin) === host().toLowerCase();
  if (!isOurs) throw fail("origin_forbidden");
}

/** The host and port of an origin; "" where it has none. */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : "";
}
