// Checks a WebSocket request (RFC 6455 §4.2.1) before its protocol is loaded, so that refusals have the error envelope.
import type { IncomingMessage } from "node:http";
import { fail, type ServiceError } from "../contract/errors.js";
import { methodNotAllowed } from "./route-table.js";

/** The supported version; 8 is the same on the wire. */
const versions = ["13", "8"];
const key = /^[+/0-9A-Za-z]{22}==$/;
/** Names of RFC 9110 §5.6.2 with commas between them. */
const protocols = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

/** Headers that say that only WebSockets of this version are accepted here (RFC 9110 §15.5.22, RFC 6455 §4.4). */
export function upgradeRequired(): ServiceError {
  const headers = {
    Upgrade: "websocket",
    Connection: "Upgrade, close",
    "Sec-WebSocket-Version": "13",
  };
  return fail("upgrade_required", {}, { headers });
}

/** Throws `method_not_allowed`, `upgrade_required`, `http_malformed`. */
export function checkUpgrade({ method, headers }: IncomingMessage): void {
  if (method !== "GET") throw methodNotAllowed(["GET", "HEAD"]);
  if (!versions.includes(headers["sec-websocket-version"] ?? "")) throw upgradeRequired();
  const offered = headers["sec-websocket-protocol"];
  const isSound =
    key.test(headers["sec-websocket-key"] ?? "") &&
    (offered === undefined || protocols.test(offered));
  if (!isSound) throw fail("http_malformed");
}
