// Which addresses a webhook may have: public ones, over HTTPS. Callers must not reach systems that only this service can
// reach (server-side request forgery: OWASP API7:2023), whatever a name resolves to, and whenever.
import { lookup as lookUp, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Which addresses are called: public ones over HTTPS, or any, for development. */
export type Reach = "public" | "any";

/** Whether a URL may be the address of a webhook; whether its name resolves to a private address is checked at each call. */
export function isCallable(text: string, reach: Reach): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash, hostname } = new URL(text);
  if (username !== "" || password !== "" || hash !== "") return false;
  if (reach === "any") return protocol === "https:" || protocol === "http:";
  return protocol === "https:" && isAllowed(hostname);
}

/** Whether a host is a name that may be looked up, or a public address. */
function isAllowed(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return isPublic(host);
  return host.includes(".") && !/(?:^|\.)(?:localhost|local|internal)\.?$/.test(host);
}

/** Whether an IP address is one of the internet (RFC 6890). */
export function isPublic(address: string): boolean {
  return ipaddr.process(address).range() === "unicast";
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Looks up a name for a new connection; fails if one of its addresses is not public. */
export function lookupPublic(hostname: string, options: LookupOptions, found: Found): void {
  lookUp(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      found(error, []);
      return;
    }
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
      found(new Error("the address is not public"), []);
      return;
    }
    // The connection uses the address that was checked: nothing is looked up again.
    if (options.all === true) found(null, addresses);
    else found(null, first.address, first.family);
  });
}
