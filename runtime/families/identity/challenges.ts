// What a 401 says about credentials: the schemes of a service's ingress, in its realm (RFC 9110
// §11.6.1).
import type { IdentitySpec, Ingress } from "./spec.js";

/**
 * The scheme of an ingress in a challenge. Only `bearer` has one of its own; HTTP registers none
 * for keys and cookies, and a token in a cookie or a query is a bearer token.
 */
export function schemeOf(ingress: Ingress): string {
  if (ingress.kind === "bearer") return ingress.scheme;
  return ingress.kind === "api_key" ? "ApiKey" : "Bearer";
}

/**
 * The challenges of a service, one for each scheme in the order of its ingress; `Bearer` alone
 * without identity.
 */
export function challengeOf(spec: IdentitySpec | undefined): string {
  if (spec === undefined || spec.ingress.length === 0) return "Bearer";
  const schemes = new Map(spec.ingress.map((one) => [schemeOf(one).toLowerCase(), schemeOf(one)]));
  return [...schemes.values()].map((scheme) => `${scheme} realm="${spec.issuer}"`).join(", ");
}
