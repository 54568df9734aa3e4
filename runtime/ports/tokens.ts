// The port of access tokens: what they say, who signs them, who proves them (service.md "Keys and secrets").
import type { JsonWebKey } from "node:crypto";

/** Signatures of access tokens (RFC 7518 §3.1, RFC 8037). */
export const tokenAlgorithms = ["HS256", "RS256", "ES256", "EdDSA"] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/** Who a token speaks of. `act` is who acts for the subject (RFC 8693 §4.1). */
export interface TokenSubject {
  readonly sub: string;
  readonly sid: string;
  readonly tid?: string;
  readonly act?: { readonly sub: string };
  /** The generation of its session: a refresh ends the tokens before it. */
  readonly gen: number;
}

/** What a proven access token says. Times are seconds since the epoch. */
export interface AccessClaims extends TokenSubject {
  readonly exp: number;
}

/** Signs with one private key, here or in a key management service. */
export interface TokenSigner {
  readonly kid: string;
  /** The signature over `data` as RFC 7515 carries it: of ES256 it is r and s, 64 bytes. */
  sign(data: Uint8Array): Promise<Uint8Array> | Uint8Array;
}

/** A signer outside this process, with the public keys (each with its `kid`) that verify what it signs. */
export interface ExternalSigner extends TokenSigner {
  readonly publicKeys: readonly JsonWebKey[];
}

export interface TokenIssuer {
  /** A token that ends after `ttlSeconds`. */
  issue(subject: TokenSubject, ttlSeconds: number): Promise<string>;
  /** Proves that a token was signed by a current key and is current. Throws `core.authentication`, all faults alike. */
  verify(token: string): AccessClaims | Promise<AccessClaims>;
  /** The public keys, for others to verify with (RFC 7517). Never a symmetric or private one. */
  readonly publicKeys: readonly JsonWebKey[];
}
