// From a resolver's result to a caller: subjects are mapped to principals, and everything that it
// names must be live (service.md "Boundary middleware", decisions.md §4 "Authentication specs").
import { identityResources } from "./resources.js";
import { fail, refusedCredentials } from "../../contract/errors.js";
import { isUuid } from "../../contract/uuid.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { Resources } from "../../operations/resources.js";
import type { Identity } from "../../operations/identity.js";
import type { Transaction } from "../../ports/database.js";
import { identityStore, type Trust } from "../../ports/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { ForeignCaller, IdentitySpec } from "./spec.js";

/** How long creating a principal may take, in milliseconds. */
const makingMillis = 10_000;
/** Letters that an issuer's name and a subject may have. */
const maxName = 512;

/**
 * The caller that a token of a route with a resolver names. Throws errors of the kind
 * authentication.
 */
export async function resolvedCaller(
  spec: IdentitySpec,
  routeName: string,
  resources: Resources,
  stores: Transaction,
  token: string,
): Promise<Identity> {
  const { verifier, resolver } = spec.routes[routeName] ?? {};
  const claims: unknown = await (verifier ?? resources.of(identityResources).tokens.verify)(token);
  const said = claims === null ? null : ((await resolver?.(claims, stores)) ?? null);
  if (said === null) throw refusedCredentials();
  const fault = faultOf(said);
  if (fault !== null) {
    resources.log.warn({ route: routeName }, `a resolver's answer was refused: ${fault}`);
    throw refusedCredentials();
  }
  // Without `tenancy` the service doesn't check the tenant that the resolver names.
  const tenant = spec.hasTenancy ? said.tenant : null;
  const { expiresAt, scopes = null } = said;
  if ("subject" in said) {
    const trust = await mapForeignCaller(said, tenant, resources, stores);
    return { ...identityOf(trust), tenant: said.tenant, expiresAt, scopes };
  }
  const caller = { ...said, principalId: said.principalId.toLowerCase() };
  const { principalId, actorId } = caller;
  const trust = await stores.of(identityStore).standing({ principalId }, actorId, tenant);
  if (trust !== null) identityOf(trust);
  // A subject without a principal can't be a member.
  if (trust === null && tenant !== null) throw fail("tenant_mismatch");
  return caller;
}

/**
 * What is wrong with a resolver's answer, or null. PostgreSQL's id columns only take UUIDs, so
 * nothing else is accepted on any engine.
 */
function faultOf(said: Identity | ForeignCaller): string | null {
  const scopes: unknown = said.scopes ?? [];
  if (!Array.isArray(scopes) || !scopes.every((one) => typeof one === "string"))
    return "its scopes are no list of permissions";
  if ("subject" in said) {
    const isName = (text: unknown): boolean =>
      typeof text === "string" && /^[^\p{Cc}\p{Cs}]+$/u.test(text) && text.length <= maxName;
    if (isName(said.issuer) && isName(said.subject)) return null;
    return `issuer and subject need 1 to ${maxName} letters`;
  }
  for (const member of ["principalId", "actorId", "sessionId"] as const) {
    const id = said[member];
    const isMissing = id === null && member !== "principalId";
    if (!isMissing && !(typeof id === "string" && isUuid(id)))
      return `its ${member} is no UUID; answer { issuer, subject, tenant, expiresAt } to have a name of another issuer mapped`;
  }
  return null;
}

/** The standing of a subject's principal, which is created if there is none yet. */
async function mapForeignCaller(
  { issuer, subject }: ForeignCaller,
  tenant: string | null,
  { database }: Resources,
  stores: Transaction,
): Promise<Trust> {
  const find = (): Promise<Trust | null> =>
    stores.of(identityStore).standing({ issuer, subject }, null, tenant);
  const known = await find();
  if (known !== null) return known;
  await database.write({ lifetime: Lifetime.within(makingMillis) }, async (transaction) => {
    const identities = transaction.of(identityStore);
    const id = uuidv7();
    // Another request may have been first.
    if (!(await identities.addSubject({ issuer, subject }, id))) return;
    // Typed logins are folded to lower case, so nobody can sign in with this one.
    const login = `Subject ${JSON.stringify([issuer, subject])}`;
    await identities.addPrincipal({ id, login, passwordHash: "", isActive: true });
  });
  const made = await find();
  if (made === null) throw refusedCredentials();
  return made;
}

/**
 * Who a live credential speaks of. Throws `core.authentication`, `tenant_mismatch` and
 * `tenant_inactive`.
 */
export function identityOf(trust: Trust): Identity {
  if (!trust.isActive) throw refusedCredentials();
  // Before what the end of a membership has ended with it, so that the answer says why.
  if (!trust.isMember) throw fail("tenant_mismatch");
  if (!trust.isLive) throw refusedCredentials();
  if (!trust.isTenantActive) throw fail("tenant_inactive");
  const { principalId, actorId, tenant, expiresAt } = trust;
  return { principalId, actorId, tenant, sessionId: null, expiresAt };
}
