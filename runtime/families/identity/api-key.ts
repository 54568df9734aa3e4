// The text of an API key: `<service>_<64 hex digits><CRC-32>`, with an `s` before the digits for a
// key with scopes. The checksum detects a mistyped key without a query, and lets secret scanners
// recognize a key in a text.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { drawBytes } from "../../ports/ambient.js";

/**
 * A new secret of 32 random bytes. Versions that know no scopes don't take that of a key with them:
 * they would let it do whatever its principal may.
 */
export function newApiKey(prefix: string, hasScopes: boolean): string {
  const body = `${prefix}_${hasScopes ? "s" : ""}${drawBytes(32).toString("hex")}`;
  return `${body}${checksum(body)}`;
}

/**
 * What is stored of a secret, or null if the text cannot be one. 256 random bits need neither
 * salt nor pepper.
 */
export function digestOf(prefix: string, secret: string): string | null {
  const isOurs =
    secret.startsWith(`${prefix}_`) &&
    /^s?[0-9a-f]{72}$/.test(secret.slice(prefix.length + 1)) &&
    checksum(secret.slice(0, -8)) === secret.slice(-8);
  return isOurs ? createHash("sha256").update(secret).digest("base64url") : null;
}

/** First characters, an ellipsis, last characters. */
export function hintOf(prefix: string, secret: string): string {
  return `${secret.slice(0, prefix.length + 5)}…${secret.slice(-4)}`;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
