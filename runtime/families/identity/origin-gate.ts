// The origin gate: browsers send cookies with requests that other sites start (OWASP CSRF
// Prevention Cheat Sheet).
import type { IncomingHttpHeaders } from "node:http";
import { fail } from "../../contract/errors.js";

/** What the boundary looks at of a request. */
export interface BoundaryRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Parameters of a WebSocket's handshake; none of any other request. */
  readonly handshake: ReadonlyMap<string, string>;
  /** The host that the caller asked for, behind trusted proxies. */
  readonly host: () => string;
  /** Origins besides our own that may send cookies. */
  readonly allowedOrigins: readonly string[];
}

const safeMethods = ["GET", "HEAD", "OPTIONS"];

/**
 * Lets an unsafe request with a cookie pass only where the browser says that it comes from this
 * service or an allowed origin. Throws `origin_forbidden`, also if the request says nothing: other
 * clients than browsers can send a header instead.
 */
export function checkOrigin({ method, headers, host, allowedOrigins }: BoundaryRequest): void {
  if (safeMethods.includes(method)) return;
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  if (origin !== undefined && allowedOrigins.includes(origin)) return;
  const isOurs = origin === undefined ? site === "same-origin" : isHost(origin, host());
  // `Sec-Fetch-Site` also covers the scheme, which this process can't know behind a proxy.
  if (!isOurs || (site !== undefined && site !== "same-origin")) throw fail("origin_forbidden");
}

/** Whether the origin is that of the host. */
function isHost(origin: string, host: string): boolean {
  return host !== "" && URL.canParse(origin) && new URL(origin).host === host;
}
