// Grants by the present names of permissions, whatever names they are stored under.
import type { ExecutionContext } from "../../operations/context.js";
import { tenantStore, type TenantStore } from "../../ports/tenants.js";
import {
  presentPermission,
  storedAs,
  storedPermission,
  type FormerPermissions,
} from "./former-permissions.js";

type Grants = Pick<TenantStore, "grant" | "revoke" | "listGrants" | "hasGrant">;

/** Of a service whose permissions have always had their names. */
export const unchanged: FormerPermissions = { resources: {}, permissions: {} };

/**
 * The grants of a service, within the transaction of a context. A former name counts as the present
 * one.
 */
export function grantsOf(
  { former = unchanged }: { readonly former?: FormerPermissions | undefined },
  { transaction }: Pick<ExecutionContext, "transaction">,
): Grants {
  const store = transaction.of(tenantStore);
  const namesOf = (permission: string): readonly string[] =>
    storedAs(former, presentPermission(former, permission));
  return {
    grant: (tenant, subject, permission) =>
      store.grant(tenant, subject, storedPermission(former, presentPermission(former, permission))),

    async revoke(tenant, subject, permission) {
      let isRevoked = false;
      for (const name of namesOf(permission))
        isRevoked = (await store.revoke(tenant, subject, name)) || isRevoked;
      return isRevoked;
    },

    async listGrants(tenant, subject) {
      const stored = await store.listGrants(tenant, subject);
      return [...new Set(stored.map((name) => presentPermission(former, name)))].sort();
    },

    hasGrant: (tenant, principalId, permissions) =>
      store.hasGrant(tenant, principalId, [...new Set(permissions.flatMap(namesOf))]),
  };
}
