// Which addresses a webhook may have: public ones, over HTTPS. Callers must not reach systems that
// only this service can reach (server-side request forgery: OWASP API7:2023), whatever a name
// resolves to, and whenever.
import type { LookupAddress, LookupOptions } from "node:dns";
import { lookup as lookUp } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** Which addresses are called: public ones over HTTPS, or any, for development. */
export type Reach = "public" | "any";

/**
 * Whether a URL may be the address of a webhook; whether its name resolves to a private address is
 * checked at each call.
 */
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
  return host.includes(".") && !/(?:^|\.)(?:localhost|local|internal)\.*$/.test(host);
}

/**
 * Addresses that are not of a host on the internet (IANA's registries of special-purpose addresses,
 * RFC 6890).
 */
const special = new BlockList();
for (const range of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Protocols and tunnels, which may lead to any IPv4 address, and documentation.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
])
  addRange(special, range);
/** Of IPv6 only these addresses have been given to hosts (RFC 4291 §2.4). */
const given = new BlockList();
addRange(given, "2000::/3");
const mapped = new BlockList();
addRange(mapped, "::ffff:0:0/96");

function addRange(list: BlockList, range: string): void {
  const [net = "", prefix] = range.split("/");
  list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
}

/**
 * Whether an IP address is that of a host on the internet. One with a zone, such as `fe80::1%eth0`,
 * is not.
 */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  if (special.check(address, family)) return false;
  return version === 4 || given.check(address, family) || mapped.check(address, family);
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Lookups under way, by name: nobody can end one, so each name has one, and they are bounded. */
const lookups = new Map<string, Promise<readonly LookupAddress[]>>();
const mostLookups = 64;

/** The addresses of a name, which one lookup finds for all who ask meanwhile. */
function addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
  const known = lookups.get(hostname);
  if (known !== undefined) return known;
  if (lookups.size >= mostLookups)
    return Promise.reject(new Error("too many names are being looked up"));
  const looked = lookUp(hostname, { all: true }).finally(() => lookups.delete(hostname));
  lookups.set(hostname, looked);
  return looked;
}

/** Looks up a name for a new connection; fails if one of its addresses is not public. */
export function lookupPublic(hostname: string, options: LookupOptions, found: Found): void {
  addressesOf(hostname)
    .then((addresses) => {
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublic(address)))
        throw new Error("the address is not public");
      return [addresses, first] as const;
    })
    .then(
      // The connection uses the addresses that were checked: nothing is looked up again.
      ([addresses, { address, family }]) => {
        if (options.all === true) found(null, [...addresses]);
        else found(null, address, family);
      },
      (error: unknown) => found(error instanceof Error ? error : new Error(String(error)), []),
    );
}
