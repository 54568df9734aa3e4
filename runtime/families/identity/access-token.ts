// Access tokens: JWT (RFC 7519, RFC 9068) of one algorithm, keys by kid, everything else pinned
// (RFC 8725).
import { refusedCredentials } from "../../contract/errors.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { Clock } from "../../ports/clock.js";
import type { TokenKeys } from "../../operations/token-keys.js";
import type { AccessClaims, TokenAlgorithm, TokenIssuer } from "../../ports/tokens.js";

const maxTokenLength = 8_192;
const skewSeconds = 10;
const maxRemembered = 10_000;

/**
 * An issuer whose tokens have `issuer` as `iss` and `aud`; it accepts those with one of `others` as
 * well.
 */
export function tokenIssuer(
  algorithm: TokenAlgorithm,
  { signer, verifying, publicKeys }: TokenKeys,
  issuer: string,
  clock: Clock,
  others: readonly string[] = [],
): TokenIssuer {
  // Only what can't change is cached: that this text has a valid signature. Times are compared at
  // each use.
  const proven = new Map<string, ProvenToken>();

  // Loaded with the first token: a service starts without it.
  let loading: Promise<typeof import("jose/jwt/verify")> | undefined;

  const prove = async (token: string): Promise<AccessClaims> => {
    const key = verifying.get(headerOf(token, algorithm).kid);
    if (key === undefined) throw refusedCredentials();
    let claims: Readonly<Record<string, unknown>>;
    const { jwtVerify } = await (loading ??= import("jose/jwt/verify"));
    try {
      const names = [issuer, ...others];
      const options = { algorithms: [algorithm], typ: "at+jwt", issuer: names, audience: names };
      const times = { currentDate: new Date(clock.now()), clockTolerance: skewSeconds };
      claims = (await jwtVerify(token, key, { ...options, ...times })).payload;
    } catch (cause) {
      throw refusedCredentials(cause);
    }
    const sound = soundClaims(claims, clock.now());
    const found = current(sound);
    if (proven.size >= maxRemembered) proven.delete(proven.keys().next().value ?? "");
    proven.set(token, sound);
    return found;
  };

  /**
   * What the token says, unless its time is over or has not come yet. When it was issued no longer
   * counts once it is known: a clock that is set back must not end every session.
   */
  const current = ({ claims, beginsAt }: ProvenToken): AccessClaims => {
    const now = clock.now() / 1000;
    if (claims.exp + skewSeconds < now || beginsAt - skewSeconds > now) throw refusedCredentials();
    return claims;
  };

  return {
    publicKeys,
    async issue(subject, ttlSeconds) {
      const header = { alg: algorithm, typ: "at+jwt", kid: signer.kid };
      const iat = Math.floor(clock.now() / 1000);
      const times = { iat, exp: iat + ttlSeconds };
      const claims = { ...subject, ...times, iss: issuer, aud: issuer, jti: uuidv7() };
      const text = `${encodePart(header)}.${encodePart(claims)}`;
      const signature = await signer.sign(Buffer.from(text));
      return `${text}.${Buffer.from(signature).toString("base64url")}`;
    },
    verify(token) {
      const known = proven.get(token);
      return known === undefined ? prove(token) : current(known);
    },
  };
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/**
 * The header of a token whose every part is canonical base64url; RFC 7515 §2 leaves no other
 * spelling.
 */
function headerOf(token: string, algorithm: TokenAlgorithm): { readonly kid: string } {
  const parts = token.length > maxTokenLength ? [] : token.split(".");
  if (parts.length !== 3 || !parts.every(isCanonicalBase64url)) throw refusedCredentials();
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(parts[0] ?? "", "base64url").toString("utf8"));
  } catch {
    throw refusedCredentials();
  }
  const { alg, typ, kid, ...others } = (header ?? {}) as Readonly<Record<string, unknown>>;
  // Keys in the header, critical extensions and everything else that we don't write are refused,
  // not ignored.
  const isOurs =
    alg === algorithm &&
    typ === "at+jwt" &&
    typeof kid === "string" &&
    Object.keys(others).length === 0;
  if (!isOurs) throw refusedCredentials();
  return { kid };
}

function isCanonicalBase64url(part: string): boolean {
  return (
    /^[A-Za-z0-9_-]+$/.test(part) && Buffer.from(part, "base64url").toString("base64url") === part
  );
}

/** A token whose signature is valid. */
interface ProvenToken {
  readonly claims: AccessClaims;
  /** Seconds since the epoch; 0 if it doesn't say. */
  readonly beginsAt: number;
}

/** What a token says, with its types proven. Throws `core.authentication`. */
function soundClaims(claims: Readonly<Record<string, unknown>>, now: number): ProvenToken {
  // Tokens of versions before this one have no generation: their sessions have not been refreshed
  // since.
  const { sub, sid, tid, act, exp, iat, nbf = 0, gen = 0 } = claims;
  const isSound =
    typeof sub === "string" &&
    typeof sid === "string" &&
    (tid === undefined || typeof tid === "string") &&
    (act === undefined || isActor(act)) &&
    Number.isSafeInteger(gen) &&
    Number.isSafeInteger(exp) &&
    Number.isSafeInteger(iat) &&
    Number(iat) <= now / 1000 + skewSeconds &&
    Number.isSafeInteger(nbf);
  if (!isSound) throw refusedCredentials();
  return {
    claims: {
      sub,
      sid,
      exp: Number(exp),
      gen: Number(gen),
      ...(tid === undefined ? {} : { tid }),
      ...(act === undefined ? {} : { act }),
    },
    beginsAt: Number(nbf),
  };
}

/** One actor; chains, which RFC 8693 §4.1 allows, are refused. */
function isActor(act: unknown): act is { readonly sub: string } {
  if (typeof act !== "object" || act === null) return false;
  return Object.keys(act).length === 1 && typeof (act as { sub?: unknown }).sub === "string";
}
