// The calling session, asked about once more where something is made that outlives it.
import { fail, refusedCredentials } from "../contract/errors.js";
import { identityStore } from "../ports/identity.js";
import { tenantStore } from "../ports/tenants.js";
import type { ExecutionContext } from "./context.js";
import { sessionOf, type Identity } from "./identity.js";

/**
 * Locks principals in the order of their ids, so that two who are about each other can't deadlock.
 * Those that are not active are not there.
 */
export async function holdPrincipals(
  { transaction }: ExecutionContext,
  ids: readonly string[],
): Promise<void> {
  for (const id of [...new Set(ids)].sort()) await transaction.of(identityStore).holdPrincipal(id);
}

/**
 * The caller with its session, which is live and stays so until the running write transaction has
 * ended, and so does its membership in its tenant: both may have ended since the boundary asked.
 * Throws `core.authentication` and `tenant_mismatch` if they have, and what `sessionOf` throws.
 */
export async function heldSession(
  context: ExecutionContext,
): Promise<Identity & { readonly sessionId: string }> {
  const caller = sessionOf(context);
  const { principalId, sessionId, tenant } = caller;
  const { transaction } = context;
  if (!(await transaction.of(identityStore).holdSession(principalId, sessionId)))
    throw refusedCredentials();
  // A session that isn't scoped outlives the membership in a tenant that the request names.
  if (tenant !== null && !(await transaction.of(tenantStore).isMember(tenant, principalId)))
    throw fail("tenant_mismatch");
  return caller;
}
