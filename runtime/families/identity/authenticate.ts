// From a request's credential to an identity: verify, then resolve, in one round trip (service.md
// "Boundary middleware").
import { identityResources } from "./resources.js";
import { ServiceError, refusedCredentials } from "../../contract/errors.js";
import type { Resources } from "../../operations/resources.js";
import type { Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import type { Work } from "../../ports/work.js";
import { digestOf } from "./api-key.js";
import { schemeOf } from "./challenges.js";
import { checkOrigin, type BoundaryRequest } from "./origin-gate.js";
import type { Trust } from "../../ports/identity.js";
import { identityOf, resolvedCaller } from "./resolve-caller.js";
import type { IdentitySpec, Ingress, TokenIngress } from "./spec.js";
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
  work: Omit<Work, "payer">,
  request: BoundaryRequest,
  token: string | null = null,
): Promise<Identity | null> {
  if (token !== null) {
    const ways = spec.ingress.filter((one) => one.kind !== "api_key");
    const used = ways.find((one) => credentialAt(spec, one, request) !== undefined);
    const way = used ?? ways[0];
    if (way === undefined) throw refusedCredentials();
    return byToken(spec, way, resources, work, token);
  }
  for (const ingress of spec.ingress) {
    const credential = credentialAt(spec, ingress, request);
    if (credential === undefined) continue;
    if (ingress.kind === "api_key") return byApiKey(spec, resources, work, credential);
    if (ingress.kind === "cookie") checkOrigin(request);
    return byToken(spec, ingress, resources, work, credential);
  }
  return null;
}

/**
 * A read for checking a credential. It is the service's own work: callers who use up their
 * connections can't block it.
 */
export function readOf({ database }: Resources, work: Omit<Work, "payer">): Transaction {
  return database.read({ ...work, payer: null });
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
  work: Omit<Work, "payer">,
  token: string,
): Promise<Identity> {
  try {
    const route = spec.routes[way.route] ?? {};
    return await (route.resolver === undefined
      ? ofSession(spec, resources, work, token)
      : resolvedCaller(spec, way.route, resources, readOf(resources, work), token));
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
  work: Omit<Work, "payer">,
  token: string,
): Promise<Identity> {
  const { tokens, trustOfSession } = resources.of(identityResources);
  const claims = await tokens.verify(token);
  const trust = await trustOfSession(claims.sid, work);
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
  resources: Resources,
  work: Omit<Work, "payer">,
  secret: string,
): Promise<Identity> {
  const { clock, database, log } = resources;
  const { trustOfKey } = resources.of(identityResources);
  const { issuer, alsoIssuers = [] } = spec;
  const digests = [issuer, ...alsoIssuers].map((prefix) => digestOf(prefix, secret));
  const digest = digests.find((one) => one !== null) ?? null;
  const trust = digest === null ? null : await trustOfKey(digest, work);
  if (trust === null) throw refusedCredentials();
  const now = clock.now();
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
