// The tenancy operations that generated routes name (service.md "Tenant selector routes", "Tenant
// administration routes").
import { heldSession } from "../../operations/held-session.js";
import { issueSession, type TokenResponse } from "../identity/operations.js";
import type { IdentitySpec } from "../identity/spec.js";
import { fail, refusedCredentials } from "../../contract/errors.js";
import { canonicalIds } from "../../operations/canonical-ids.js";
import { callerOf, sessionOf } from "../../operations/identity.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { tenantStore } from "../../ports/tenants.js";
import { identityStore } from "../../ports/identity.js";
import { endMembership, expectToSpare } from "./members.js";
import { addMember, addTenant } from "./provision.js";

type Nothing = Readonly<Record<never, never>>;
type ById = { readonly id: string };
type Membership = { readonly tenant_id: string; readonly principal_id: string };

export interface TenantEntry {
  readonly tenant_id: string;
  readonly tenant_key: string;
  readonly is_current: boolean;
}

type NewTenant = Omit<TenantEntry, "is_current">;

/** Tenants of one answer. */
const pageSize = 100;
/** Active tenants that somebody who creates another one may be a member of. */
const maxTenants = 100;

interface TenantPage {
  readonly tenants: readonly (Omit<TenantEntry, "is_current"> & { readonly is_active: boolean })[];
  readonly has_more: boolean;
}

/** Handlers of the tenancy family. */
export const tenancy = {
  /** The caller's memberships in active tenants. */
  listTenants:
    (): Handler<Nothing, { readonly tenants: readonly TenantEntry[] }> =>
    async (_input, context) => {
      const caller = callerOf(context);
      const tenants = await context.transaction.of(tenantStore).listMemberships(caller.principalId);
      return {
        tenants: tenants.map(({ id, key }) => ({
          tenant_id: id,
          tenant_key: key,
          is_current: id === caller.tenant,
        })),
      };
    },

  /**
   * A new token pair, scoped to the tenant; the calling session ends, unless it is to be kept.
   * Throws `tenant_mismatch` and `tenant_inactive`.
   */
  switchTenant:
    (spec: IdentitySpec): Handler<ById & { readonly keep?: boolean }, TokenResponse> =>
    async ({ id, keep = false }, context) => {
      const { principalId, sessionId } = await heldSession(context);
      const store = context.transaction.of(tenantStore);
      const tenant = await store.findTenant(id);
      // The answer doesn't distinguish an unknown tenant from one that isn't the caller's.
      if (tenant === null || !(await store.isMember(id, principalId)))
        throw fail("tenant_mismatch");
      if (!tenant.isActive) throw fail("tenant_inactive");
      const issued = await issueSession(spec, context, { principalId, tenant: id });
      recordCall(context, {}, id);
      if (keep) return issued;
      await context.transaction
        .of(identityStore)
        .endSession(principalId, sessionId, context.clock.now());
      context.endsCredentials({ principalId });
      return issued;
    },

  /**
   * Ends the caller's own membership. Throws `core.not_found` if there is none, and where members
   * look after each other `last_holder` for a role that nobody else could give any more.
   */
  leaveTenant:
    (spec: IdentitySpec): Handler<ById, void> =>
    async ({ id }, context) => {
      const { principalId } = sessionOf(context);
      if (spec.members !== undefined) await expectToSpare(spec, context, principalId, id);
      await endMembership(context, principalId, id);
    },

  /**
   * Creates a tenant with the caller as its first member, who has these roles. Throws
   * `core.conflict` for a key that is taken, and `tenants_limit`.
   */
  foundTenant:
    (...roles: readonly string[]): Handler<{ readonly tenant_key: string }, NewTenant> =>
    async ({ tenant_key: key }, context) => {
      const { principalId } = sessionOf(context);
      if (!(await context.transaction.of(identityStore).holdPrincipal(principalId)))
        throw refusedCredentials();
      const joined = await context.transaction.of(tenantStore).listMemberships(principalId);
      if (joined.length >= maxTenants) throw fail("tenants_limit", { most: maxTenants });
      const tenant = await addTenant(context, key);
      await addMember(context, { tenant, principalId, roles });
      context.note({ joined_tenant_id: tenant });
      return { tenant_id: tenant, tenant_key: key };
    },

  createTenant:
    (): Handler<{ readonly tenant_key: string }, NewTenant> =>
    async ({ tenant_key: key }, context) => ({
      tenant_id: await addTenant(context, key),
      tenant_key: key,
    }),

  /** Principal ids only. */
  listMembers:
    (): Handler<ById, { readonly members: readonly { readonly principal_id: string }[] }> =>
    async ({ id }, context) => {
      if ((await context.transaction.of(tenantStore).findTenant(id)) === null)
        throw fail("core.not_found");
      const members = await context.transaction.of(tenantStore).listMembers(id);
      return { members: members.map((principalId) => ({ principal_id: principalId })) };
    },

  /** All tenants by key, whoever is a member. */
  listAllTenants:
    (): Handler<{ readonly after?: string }, TenantPage> =>
    async ({ after }, context) => {
      const found = await context.transaction.of(tenantStore).listTenants(after, pageSize + 1);
      const tenants = found.slice(0, pageSize).map(({ id, key, isActive }) => ({
        tenant_id: id,
        tenant_key: key,
        is_active: isActive,
      }));
      return { tenants, has_more: found.length > pageSize };
    },

  deactivateTenant:
    (): Handler<ById, void> =>
    async ({ id }, context) => {
      await setActive(context, id, false);
      context.endsCredentials({ tenant: id });
    },

  reactivateTenant:
    (): Handler<ById, void> =>
    ({ id }, context) =>
      setActive(context, id, true),

  inviteMember: (): Handler<Membership, void> => async (given, context) => {
    const { tenant_id: tenantId, principal_id: principalId } = canonicalIds(given);
    await addMember(context, { tenant: tenantId, principalId });
  },

  removeMember: (): Handler<Membership, void> => async (given, context) => {
    const { tenant_id: tenantId, principal_id: principalId } = canonicalIds(given);
    await endMembership(context, principalId, tenantId);
  },
};

/** Throws `core.not_found`. */
async function setActive(context: ExecutionContext, id: string, isActive: boolean): Promise<void> {
  if (!(await context.transaction.of(tenantStore).setTenantActive(id, isActive)))
    throw fail("core.not_found");
  recordCall(context, { is_active: isActive }, id);
}
