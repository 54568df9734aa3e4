// Refresh tokens: random, stored as a digest, each leading to one successor (RFC 9700 §4.14.2,
// decisions.md "Refresh").
import type { Signer } from "../../ports/signer.js";
import { drawBytes } from "../../ports/ambient.js";

/** A new refresh token: 32 random bytes as base64url. */
export function newRefreshToken(): string {
  return drawBytes(32).toString("base64url");
}

/** What is stored of a token. */
export function refreshDigest(peppers: Signer, token: string): string {
  return peppers.sign("refresh-digest", token).toString("base64url");
}

/** What may be stored of a token: under the newest pepper, and under those before it. */
export function refreshDigests(peppers: Signer, token: string): readonly string[] {
  return peppers.all("refresh-digest", token).map((digest) => digest.toString("base64url"));
}

/**
 * The one successor of a token, derived and not stored: two requests that race with one token get
 * the same, and so does a client that lost the answer.
 */
export function successorOf(peppers: Signer, token: string): string {
  return peppers.sign("refresh-successor", token).toString("base64url");
}
