// Whom a request comes from, behind the proxies that the deployment trusts (attacks 27).
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";

/**
 * The address of the client: the peer's, or with `trustedHops` proxies before this process what the outermost of them
 * saw (`X-Forwarded-For`). IPv4-mapped addresses become IPv4; of IPv6 it is the /64, which one client has to itself.
 */
export function clientAddress(req: IncomingMessage, trustedHops: number): string {
  const peer = req.socket.remoteAddress ?? "";
  const seen = trustedHops === 0 ? peer : proxyAddr(req, (_address, hop) => hop < trustedHops);
  const address = ipaddr.isValid(seen) ? seen : peer;
  if (!ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
