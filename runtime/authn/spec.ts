// The identity spec: what the generator settles about signing in.
import type { Keys } from "../operations/keys.js";
import { hmacTokenIssuer, type TokenIssuer } from "./access-token.js";

export interface IdentitySpec {
  /** `iss` and `aud` of the tokens: the service's name. */
  readonly issuer: string;
  readonly accessTtlSeconds: number;
  readonly refreshTtlSeconds: number;
  /** How long a used refresh token still leads to the same successor; 0 is strict. */
  readonly refreshGraceSeconds: number;
}

/** Declares how a service identifies its callers. */
export function identity(spec: IdentitySpec): IdentitySpec {
  return spec;
}

const issuers = new WeakMap<Keys, Map<string, TokenIssuer>>();

/** The token issuer of a spec over the given keys, made once. */
export function issuerOf(spec: IdentitySpec, keys: Keys): TokenIssuer {
  const known = issuers.get(keys) ?? new Map<string, TokenIssuer>();
  issuers.set(keys, known);
  const issuer = known.get(spec.issuer) ?? hmacTokenIssuer(keys.accessToken, spec.issuer);
  known.set(spec.issuer, issuer);
  return issuer;
}
