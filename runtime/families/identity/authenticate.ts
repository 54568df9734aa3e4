// From a request's credential to an identity: verify, then resolve, in one round trip (service.md
// "Boundary middleware").
import { identityResources } from "./resources.js";
import { ServiceError, refusedCredentials } from "../../contract/errors.js";
import type { Resources } from "../../operations/resources.js";
import type { Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import { digestOf } from "./api-key.js";
import { schemeOf } from "./challenges.js";
import { checkOrigin, type BoundaryRequest } from "./origin-gate.js";
import type { Trust } from "../../ports/identity.js";
import { identityOf, resolvedCaller } from "./resolve-caller.js";
import type { IdentitySpec, Ingress, TokenIngress } from "./spec.js";
import { identityStore } from "../../ports/identity.js";
import { apiKeyStore } from "../../ports/api-keys.js";

const noteMillis = 10_000;
/** The use of a key is noted once in so many milliseconds. */
const useNotedEvery = 60_000;

/**
 * The caller of a request, or null if it carries no credential. The first ingress that is present
 * decides: a credential that is invalid, or no longer live, throws `core.authentication`, on open
 * operations too. A token that came otherwise than in the headers replaces theirs; it is checked by
 * the route of the ingress that the headers use, or else by the first route.
 */
export async function authenticate(
  spec: IdentitySpec,
  resources: Resources,
  stores: Transaction,
  request: BoundaryRequest,
  token: string | null = null,
): Promise<Identity | null> {
  if (token !== null) {
    const ways = spec.ingress.filter((one) => one.kind !== "api_key");
    const used = ways.find((one) => credentialAt(spec, one, request) !== undefined);
    const way = used ?? ways[0];
    if (way === undefined) throw refusedCredentials();
    return byToken(spec, way, resources, stores, token);
  }
  for (const ingress of spec.ingress) {
    const credential = credentialAt(spec, ingress, request);
    if (credential === undefined) continue;
    if (ingress.kind === "api_key") return byApiKey(spec, resources, stores, credential);
    if (ingress.kind === "cookie") checkOrigin(request);
    return byToken(spec, ingress, resources, stores, credential);
  }
  return null;
}

/** The credential at an ingress: undefined if there is none, "" if it is malformed. */
function credentialAt(
  { ingress }: IdentitySpec,
  at: Ingress,
  { headers, handshake }: BoundaryRequest,
): string | undefined {
  if (at.kind === "cookie") return cookieOf(headers.cookie, at.cookie);
  if (at.kind === "query") return handshake.get(at.query);
  const name = at.header.toLowerCase();
  const value = headers[name];
  if (typeof value !== "string") return undefined;
  if (at.kind === "api_key") return value;
  const token = behindScheme(value, at.scheme);
  if (token !== undefined) return token;
  // Several ingresses may share a header, each with a scheme of its own.
  const isOthers = ingress.some(
    (one) =>
      one.kind === "bearer" &&
      one.header.toLowerCase() === name &&
      behindScheme(value, one.scheme) !== undefined,
  );
  return isOthers ? undefined : "";
}

/** The token of `<scheme> <token>` (RFC 9110 §11.4). */
function behindScheme(value: string, scheme: string): string | undefined {
  const [before = "", token = ""] = value.split(" ", 2);
  const isWhole = value.length === before.length + 1 + token.length;
  const isIts = isWhole && before.toLowerCase() === scheme.toLowerCase();
  return isIts && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

/** A cookie by its name; "" if it occurs twice, because nobody knows who set which. */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length > 1 ? "" : values[0];
}

/**
 * The caller that a token names. A refusal says that it was the token (RFC 6750 §3.1), where one
 * was given.
 */
async function byToken(
  spec: IdentitySpec,
  way: TokenIngress,
  resources: Resources,
  stores: Transaction,
  token: string,
): Promise<Identity> {
  try {
    const route = spec.routes[way.route] ?? {};
    return await (route.resolver === undefined
      ? ofSession(spec, resources, stores, token)
      : resolvedCaller(spec, way.route, resources, stores, token));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401 || token === "") throw error;
    const challenge = `${schemeOf(way)} realm="${spec.issuer}", error="invalid_token"`;
    const headers = { ...error.headers, "WWW-Authenticate": challenge };
    throw new ServiceError(error.code, error.definition, error.context, {
      cause: error.cause,
      headers,
    });
  }
}

/** The caller of a token of the service's own; its session must be live. */
async function ofSession(
  spec: IdentitySpec,
  resources: Resources,
  stores: Transaction,
  token: string,
): Promise<Identity> {
  const claims = await resources.of(identityResources).tokens.verify(token);
  const trust = await stores.of(identityStore).trust(claims.sid);
  const isSame =
    trust !== null &&
    trust.principalId === claims.sub &&
    trust.tenant === (claims.tid ?? null) &&
    trust.actorId === (claims.act?.sub ?? null) &&
    isOfNow(spec, trust, claims.gen, resources.clock.now());
  if (!isSame) throw refusedCredentials();
  return { ...identityOf(trust), sessionId: claims.sid, expiresAt: claims.exp * 1000 };
}

/**
 * Whether a token has the session's generation, or, within the grace, the one before: a refresh
 * ends the token that it replaces.
 */
function isOfNow(
  { refreshGraceSeconds }: IdentitySpec,
  { generation, rotatedAt }: Trust,
  of: number,
  now: number,
): boolean {
  if (of === generation) return true;
  const sinceMillis = now - (rotatedAt ?? 0);
  return of === generation - 1 && sinceMillis <= refreshGraceSeconds * 1000;
}

async function byApiKey(
  spec: IdentitySpec,
  { clock, database, log }: Resources,
  stores: Transaction,
  secret: string,
): Promise<Identity> {
  const { issuer, alsoIssuers = [] } = spec;
  const digests = [issuer, ...alsoIssuers].map((prefix) => digestOf(prefix, secret));
  const digest = digests.find((one) => one !== null) ?? null;
  const now = clock.now();
  const trust = digest === null ? null : await stores.of(apiKeyStore).trust(digest, now);
  if (trust === null) throw refusedCredentials();
  const identity: Identity = { ...identityOf(trust), scopes: trust.scopes };
  if (now - (trust.lastUsedAt ?? 0) > useNotedEvery) {
    // The request doesn't wait for this write: if it is lost, the next use writes it.
    database
      .write({ lifetime: Lifetime.within(noteMillis) }, (transaction) =>
        transaction.of(apiKeyStore).noteUse(trust.credentialId, now),
      )
      .catch((error: unknown) => log.warn({ err: error }, "the use of an API key was not noted"));
  }
  return identity;
}
