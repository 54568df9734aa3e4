// Provisioning of principals and permissions (on which the specification is silent), and deactivation (service.md "Authentication routes").
import { fail } from "../contract/errors.js";
import type { ExecutionContext } from "../operations/context.js";
import type { Handler } from "../operations/operation.js";
import { createPrincipal } from "./provision.js";

/** A permission of a principal, in a tenant or everywhere. */
interface Grant {
  readonly principal_id: string;
  readonly permission: string;
  readonly tenant_id?: string;
}

/** Handlers of the administration of principals. */
export const principals = {
  createPrincipal:
    (): Handler<
      { readonly login: string; readonly password: string },
      { readonly principal_id: string }
    > =>
    async (given, context) => ({ principal_id: await createPrincipal(context, given) }),

  /** Ends every session of the principal; it cannot sign in again. */
  deactivatePrincipal:
    (): Handler<{ readonly principal_id: string }, void> =>
    async ({ principal_id: id }, context) => {
      if (!(await context.transaction.identity.deactivate(id, Date.now())))
        throw fail("core.not_found");
    },

  /** Throws `core.not_found` for an unknown principal, and for a tenant that it is not a member of. */
  grantPermission: (): Handler<Grant, void> => async (grant, context) => {
    await checkHolder(grant, context);
    const { tenant_id: tenantId, principal_id: principalId, permission } = grant;
    await context.transaction.tenants.grant(tenantId ?? null, principalId, permission);
  },

  /** Throws `core.not_found` where there is no such permission. */
  revokePermission:
    (): Handler<Grant, void> =>
    async ({ tenant_id: tenantId, principal_id: principalId, permission }, context) => {
      const { tenants } = context.transaction;
      if (!(await tenants.revoke(tenantId ?? null, principalId, permission)))
        throw fail("core.not_found");
    },
};

async function checkHolder(
  { principal_id: principalId, tenant_id: tenantId }: Grant,
  { transaction }: ExecutionContext,
): Promise<void> {
  const { identity, tenants } = transaction;
  const isThere =
    tenantId === undefined
      ? (await identity.findPrincipal(principalId)) !== null
      : await tenants.isMember(tenantId, principalId);
  if (!isThere) throw fail("core.not_found");
}
