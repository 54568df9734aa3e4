// Access tokens: JWT (RFC 7519, RFC 9068) signed with HS256, keys by kid, everything else pinned (RFC 8725).
import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { fail } from "../contract/errors.js";

/** What an access token says. Times are seconds since the epoch. */
export interface AccessClaims {
  readonly sub: string;
  readonly sid: string;
  readonly tid?: string;
  readonly exp: number;
}

export interface TokenIssuer {
  /** Signs a token with the newest key. */
  sign(
    claims: {
      readonly sub: string;
      readonly sid: string;
      readonly tid?: string;
      readonly jti: string;
    },
    ttlSeconds: number,
  ): string;
  /** Proves that a token was signed here and is current. Throws `core.authentication`, all faults alike. */
  verify(token: string): AccessClaims;
}

const maxTokenLength = 8_192;
const skewSeconds = 10;
const maxRemembered = 10_000;

/** An issuer over an ordered list of secrets of at least 32 bytes: the first signs, all verify. */
export function hmacTokenIssuer(secrets: readonly Buffer[], issuer: string): TokenIssuer {
  const keys = new Map(secrets.map((secret) => [keyId(secret), createSecretKey(secret)]));
  const [newest] = keys;
  if (newest === undefined) throw new Error("a token issuer needs at least one secret");
  // Only the pure part is remembered: that this text carries a valid signature. Times are compared at each use.
  const proven = new Map<string, AccessClaims>();

  const prove = (token: string): AccessClaims => {
    const key = keys.get(headerOf(token).kid);
    if (key === undefined) throw fail("core.authentication");
    const claims = claimsOf(token, key, issuer);
    if (proven.size >= maxRemembered) proven.delete(proven.keys().next().value ?? "");
    proven.set(token, claims);
    return claims;
  };

  return {
    sign(claims, ttlSeconds) {
      const [kid, key] = newest;
      return jwt.sign({ ...claims }, key, {
        algorithm: "HS256",
        keyid: kid,
        issuer,
        audience: issuer,
        expiresIn: ttlSeconds,
        header: { alg: "HS256", typ: "at+jwt" },
      });
    },
    verify(token) {
      const claims = proven.get(token) ?? prove(token);
      if (claims.exp + skewSeconds < Date.now() / 1000) throw fail("core.authentication");
      return claims;
    },
  };
}

function keyId(secret: Buffer): string {
  return createHash("sha256").update("kid").update(secret).digest("base64url").slice(0, 12);
}

/** The header of a token whose every part is canonical base64url; RFC 7515 §2 leaves no other spelling. */
function headerOf(token: string): { readonly kid: string } {
  const parts = token.length > maxTokenLength ? [] : token.split(".");
  if (parts.length !== 3 || !parts.every(isCanonicalBase64url)) throw fail("core.authentication");
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(parts[0] ?? "", "base64url").toString("utf8"));
  } catch {
    throw fail("core.authentication");
  }
  const { alg, typ, kid, ...others } = (header ?? {}) as Readonly<Record<string, unknown>>;
  // Keys in the header, critical extensions and anything else that is not ours are refused, not ignored.
  const isOurs =
    alg === "HS256" &&
    typ === "at+jwt" &&
    typeof kid === "string" &&
    Object.keys(others).length === 0;
  if (!isOurs) throw fail("core.authentication");
  return { kid };
}

function isCanonicalBase64url(part: string): boolean {
  return (
    /^[A-Za-z0-9_-]+$/.test(part) && Buffer.from(part, "base64url").toString("base64url") === part
  );
}

function claimsOf(token: string, key: KeyObject, issuer: string): AccessClaims {
  let claims: unknown;
  try {
    claims = jwt.verify(token, key, {
      algorithms: ["HS256"],
      issuer,
      audience: issuer,
      clockTolerance: skewSeconds,
    });
  } catch (cause) {
    throw fail("core.authentication", {}, { cause });
  }
  const { sub, sid, tid, exp, iat } = claims as Readonly<Record<string, unknown>>;
  const isSound =
    typeof sub === "string" &&
    typeof sid === "string" &&
    (tid === undefined || typeof tid === "string") &&
    Number.isSafeInteger(exp) &&
    Number.isSafeInteger(iat) &&
    Number(iat) <= Date.now() / 1000 + skewSeconds;
  if (!isSound) throw fail("core.authentication");
  return { sub, sid, exp: Number(exp), ...(tid === undefined ? {} : { tid: String(tid) }) };
}
