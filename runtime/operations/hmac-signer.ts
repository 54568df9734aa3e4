// A signer with secrets of the service's own: HMAC-SHA-256 (RFC 2104), keys that rotate by overlap.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Signer } from "../ports/signer.js";

/**
 * A signer over an ordered list of secrets: the first signs, all verify. Throws if the list is
 * empty.
 */
export function hmacSigner(secrets: readonly Buffer[]): Signer {
  const [first] = secrets;
  if (first === undefined) throw new Error("a signer needs at least one secret");
  const digest = (secret: Buffer, purpose: string, text: string): Buffer =>
    createHmac("sha256", secret).update(`${purpose}\0${text}`).digest();
  return {
    sign: (purpose, text) => digest(first, purpose, text),
    all: (purpose, text) => secrets.map((secret) => digest(secret, purpose, text)),
    verify: (purpose, text, signature) =>
      secrets.reduce((known, secret) => {
        const expected = digest(secret, purpose, text);
        const same = expected.length === signature.length && timingSafeEqual(expected, signature);
        return same || known;
      }, false),
  };
}
