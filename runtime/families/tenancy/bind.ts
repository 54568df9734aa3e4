// Which tenant a request is bound to: the credential's, or a hint that the deployment trusts
// (service.md "Tenant binding").
import { fail } from "../../contract/errors.js";
import type { Identity } from "../../operations/identity.js";
import type { Tenant, TenantStore } from "../../ports/tenants.js";

/** What a request says about its tenant, as far as that is trusted: its id, or its key. */
export type TenantHint = { readonly id: string } | { readonly key: string };

/** A caller and the tenant whose data the request sees; null for none. */
export interface Bound {
  readonly identity: Identity | null;
  readonly tenant: string | null;
}

/**
 * Binds the hints of a request, one or more; those that name different tenants are
 * `tenant_conflict`. A credential that is scoped to a tenant keeps it: another hint is
 * `tenant_conflict`. One that is not gets the hinted tenant where its principal, and who acts for
 * it, are members. Throws `tenant_mismatch`, also for a tenant that is not there, and
 * `tenant_inactive`.
 */
export async function bindHints(
  store: TenantStore,
  identity: Identity | null,
  hints: readonly TenantHint[],
): Promise<Bound> {
  const found: (Tenant | null)[] = [];
  for (const hint of hints) found.push(await find(store, hint));
  const [tenant = null] = found;
  if (found.some((one) => one?.id !== tenant?.id)) throw fail("tenant_conflict");
  if (tenant === null) throw fail("tenant_mismatch");
  if (identity !== null && identity.tenant !== null) {
    if (identity.tenant !== tenant.id) throw fail("tenant_conflict");
  } else if (identity !== null) {
    const { principalId, actorId } = identity;
    for (const member of actorId === null ? [principalId] : [principalId, actorId])
      if (!(await store.isMember(tenant.id, member))) throw fail("tenant_mismatch");
  }
  if (!tenant.isActive) throw fail("tenant_inactive");
  return { identity: identity && { ...identity, tenant: tenant.id }, tenant: tenant.id };
}

function find(store: TenantStore, hint: TenantHint): Promise<Tenant | null> {
  return "id" in hint ? store.findTenant(hint.id) : store.findTenantByKey(hint.key);
}
