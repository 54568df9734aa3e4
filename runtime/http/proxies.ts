// Which proxies are trusted, and what they report: the client's address and host (attack 27).
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";
import type { CallerRequest } from "./caller-request.js";

/**
 * Whether a peer is a trusted proxy: by its address, or by how many hops away it is (0 is the peer
 * itself).
 */
export type ProxyTrust = (address: string, hop: number) => boolean;

/** No proxy is trusted. */
export const trustsNone: ProxyTrust = () => false;

/**
 * Reads `TRUSTED_PROXIES`: a number of hops up to 16, or CIDR ranges. Null if it is neither, or
 * would trust everybody.
 */
export function readProxyTrust(text: string): ProxyTrust | null {
  if (/^(?:[0-9]|1[0-6])$/.test(text)) {
    const hops = Number(text);
    return hops === 0 ? trustsNone : (_address, hop) => hop < hops;
  }
  const ranges = text.split(",").map((range) => range.trim());
  const isSound = ranges.every((range) => {
    const address = range.replace(/\/[1-9]\d*$/, "");
    return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  });
  if (!isSound) return null;
  try {
    const trusts = proxyAddr.compile(ranges);
    return wholes.some((whole) => covers(ranges.map(boundsOf), boundsOf(whole))) ? null : trusts;
  } catch {
    return null;
  }
}

/** All of IPv4, and what is routed of IPv6: whoever trusts one of them trusts strangers. */
const wholes = ["0.0.0.0/0", "2000::/3"];

type Bounds = readonly [first: bigint, last: bigint];

/**
 * The first and the last address of a range, as numbers of IPv6; IPv4 counts where it is mapped to.
 */
function boundsOf(range: string): Bounds {
  const [text = "", length] = range.split("/", 2);
  const parsed = ipaddr.parse(text);
  const mapped = parsed instanceof ipaddr.IPv6 ? parsed : parsed.toIPv4MappedAddress();
  const shared = length === undefined ? 128 : Number(length) + (parsed === mapped ? 0 : 96);
  const size = 1n << BigInt(128 - shared);
  const address = mapped.toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const first = address - (address % size);
  return [first, first + size - 1n];
}

/** Whether ranges together have every address of a whole. */
function covers(ranges: readonly Bounds[], [from, to]: Bounds): boolean {
  let next = from;
  const inOrder = ranges.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  for (const [first, last] of inOrder) {
    if (first > next) break;
    if (last >= next) next = last + 1n;
  }
  return next > to;
}

/**
 * The address of the client: the peer's, or behind trusted proxies the address that the outermost
 * of them saw (`X-Forwarded-For`). IPv4-mapped addresses become IPv4; of IPv6 it is the /64, which
 * one client has to itself.
 */
export function clientAddress(req: IncomingMessage, trusts: ProxyTrust): string {
  const peer = req.socket.remoteAddress ?? "";
  const seen = trusts === trustsNone ? peer : proxyAddr(req, trusts);
  const address = ipaddr.isValid(seen) ? seen : peer;
  if (!ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/**
 * The host that the caller asked for: `Host`, or where the peer is a trusted proxy and the service
 * believes it, the last entry of `X-Forwarded-Host`, which that proxy wrote.
 */
export function requestedHost(
  req: CallerRequest,
  trusts: ProxyTrust,
  isForwardedTrusted: boolean,
): string {
  const forwarded = req.headers["x-forwarded-host"];
  const isTold =
    isForwardedTrusted &&
    typeof forwarded === "string" &&
    trusts(req.socket.remoteAddress ?? "", 0);
  const host = isTold ? (forwarded.split(",").at(-1) ?? "").trim() : req.headers.host;
  return (host ?? "").toLowerCase();
}
