// From a request's credential to an identity: verify, then resolve, in one round trip (service.md "Boundary middleware").
import type { IncomingHttpHeaders } from "node:http";
import { fail } from "../contract/errors.js";
import type { Identity } from "../operations/identity.js";
import type { Keys } from "../operations/keys.js";
import type { IdentityStore } from "./port.js";
import { issuerOf, type IdentitySpec } from "./spec.js";

/**
 * The caller of a request, or null where it carries no credential. A credential that is not valid, or whose session or
 * principal is no longer live, throws `core.authentication`, on open operations too.
 */
export async function authenticate(
  spec: IdentitySpec,
  keys: Keys,
  store: IdentityStore,
  headers: IncomingHttpHeaders,
): Promise<Identity | null> {
  const header = headers.authorization;
  if (header === undefined) return null;
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (token === undefined) throw fail("core.authentication");
  const claims = issuerOf(spec, keys).verify(token);
  const trust = await store.trust(claims.sid);
  const isTrusted =
    trust !== null &&
    trust.isSessionLive &&
    trust.isPrincipalActive &&
    trust.principalId === claims.sub &&
    trust.tenant === (claims.tid ?? null);
  if (!isTrusted) throw fail("core.authentication");
  if (!trust.isMember) throw fail("tenant_mismatch");
  if (!trust.isTenantActive) throw fail("tenant_inactive");
  return {
    principalId: claims.sub,
    sessionId: claims.sid,
    tenant: trust.tenant,
    expiresAt: claims.exp * 1000,
  };
}
