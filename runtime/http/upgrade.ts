// Checks a WebSocket request (RFC 6455 §4.2.1) before its protocol is loaded, so that refusals have
// the error envelope.
import type { IncomingMessage } from "node:http";
import { fail, type ServiceError } from "../contract/errors.js";
import { checkHost } from "./host.js";
import { hasBody } from "./input/read-body.js";
import { methodNotAllowed } from "./route-table.js";

/** The supported version. Drafts had other ones, some with the same frames (RFC 6455 §4.4). */
const version = "13";
const key = /^[+/0-9A-Za-z]{22}==$/;
/** Names of RFC 9110 §5.6.2 with commas between them. */
const protocols = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Headers that say that only WebSockets of this version are accepted here (RFC 9110 §15.5.22, RFC
 * 6455 §4.4).
 */
export function upgradeRequired(): ServiceError {
  const headers = {
    Upgrade: "websocket",
    Connection: "Upgrade, close",
    "Sec-WebSocket-Version": version,
  };
  return fail("upgrade_required", {}, { headers });
}

/** Throws `method_not_allowed`, `upgrade_required`, `http_malformed`. */
export function checkUpgrade(req: IncomingMessage): void {
  const { method, headers } = req;
  checkHost(req);
  if (method !== "GET") throw methodNotAllowed(["GET", "HEAD"]);
  if (headers["sec-websocket-version"] !== version) throw upgradeRequired();
  const offered = headers["sec-websocket-protocol"];
  const isSound =
    key.test(headers["sec-websocket-key"] ?? "") &&
    (offered === undefined || protocols.test(offered));
  if (!isSound) throw fail("http_malformed");
}

/**
 * Whether a request that asks for another protocol can become a WebSocket. HTTP/1.0 has no upgrades
 * (RFC 9110 §7.8), and the bytes of a body would be taken for frames.
 */
export function isWebSocketRequest(req: IncomingMessage): boolean {
  const asked = req.headers.upgrade?.toLowerCase();
  return asked === "websocket" && req.httpVersion === "1.1" && !hasBody(req);
}

/** The head of a request as it came, without `Upgrade`. */
export function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: Head): Buffer {
  let head = `${method ?? ""} ${url ?? ""} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() !== "upgrade") head += `${name}: ${value}\r\n`;
  }
  // As Node has read it.
  return Buffer.from(`${head}\r\n`, "latin1");
}

type Head = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "rawHeaders">;
