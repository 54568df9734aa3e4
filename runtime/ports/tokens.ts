// The port of access tokens: what they say, who signs them and who verifies them (service.md "Keys
// and secrets").
import type { JsonWebKey } from "node:crypto";

/** Signature algorithms of access tokens (RFC 7518 §3.1, RFC 8037). */
export const tokenAlgorithms = ["HS256", "RS256", "ES256", "EdDSA"] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/**
 * Whom a token identifies: principal, session, tenant. `act` is who acts for the principal (RFC
 * 8693 §4.1).
 */
export interface TokenSubject {
  readonly sub: string;
  readonly sid: string;
  readonly tid?: string;
  readonly act?: { readonly sub: string };
  /** The generation of its session: each refresh raises it, which ends the tokens issued before. */
  readonly gen: number;
}

/** What a verified access token says. `exp` is in seconds since the epoch. */
export interface AccessClaims extends TokenSubject {
  readonly exp: number;
}

/** Signs with one private key, here or in a key management service. */
export interface TokenSigner {
  readonly kid: string;
  /** Signs `data`. The signature has the form of RFC 7515: for ES256, r and s in 64 bytes. */
  sign(data: Uint8Array): Promise<Uint8Array> | Uint8Array;
}

/**
 * A signer outside this process, with the public keys (each with its `kid`) that verify what it
 * signs.
 */
export interface ExternalSigner extends TokenSigner {
  readonly publicKeys: readonly JsonWebKey[];
}

export interface TokenIssuer {
  /** Issues a token that expires after `ttlSeconds`. */
  issue(subject: TokenSubject, ttlSeconds: number): Promise<string>;
  /**
   * Checks that a token was signed with one of the keys and is still valid. Any fault is the same
   * `core.authentication`.
   */
  verify(token: string): AccessClaims | Promise<AccessClaims>;
  /**
   * The public keys with which others can verify tokens (RFC 7517). Never a symmetric or private
   * one.
   */
  readonly publicKeys: readonly JsonWebKey[];
}
