// Signing of values that leave the service and come back: HMAC-SHA-256 (RFC 2104), keys that rotate by overlap.
import { createHmac, timingSafeEqual } from "node:crypto";

/** Signs text for one purpose. A signature made for one purpose never verifies for another. */
export interface Signer {
  sign(purpose: string, text: string): Buffer;
  /** What each secret signs, the first one's first: to look up what an earlier secret has signed. */
  all(purpose: string, text: string): readonly Buffer[];
  verify(purpose: string, text: string, signature: Buffer): boolean;
}

/** A signer over an ordered list of secrets: the first signs, all verify. Throws where the list is empty. */
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
