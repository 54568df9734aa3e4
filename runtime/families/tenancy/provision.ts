// Making tenants and members of them, for handlers of authors and for the operations.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { recordCall } from "../../operations/recorded.js";
import { identityStore } from "../../ports/identity.js";
import { tenantStore } from "../../ports/tenants.js";
import { uuidv7 } from "../../ports/uuid.js";
import { changeRoles } from "./member-roles.js";

/** Somebody who becomes a member, and the roles that it gets. */
export interface NewMember {
  /** The tenant's id. */
  readonly tenant: string;
  readonly principalId: string;
  /** Names of roles of the registry; none where left out. */
  readonly roles?: readonly string[];
}

/** Adds an active tenant and returns its id. Throws `core.conflict` if the key is taken. */
export async function addTenant({ transaction }: ExecutionContext, key: string): Promise<string> {
  const id = uuidv7();
  const added = await transaction.of(tenantStore).addTenant({ id, key, isActive: true });
  if (!added) throw fail("core.conflict", { reason: "the key is taken" });
  return id;
}

/**
 * Makes a principal a member with these roles, besides those that it has. Throws `core.not_found`
 * for a tenant that is not there and a principal that is not active.
 */
export async function addMember(
  context: ExecutionContext,
  { tenant, principalId, roles = [] }: NewMember,
): Promise<void> {
  const tenants = context.transaction.of(tenantStore);
  const isKnown =
    (await tenants.findTenant(tenant)) !== null &&
    // Locked, so that a concurrent deactivation also removes this membership.
    (await context.transaction.of(identityStore).holdPrincipal(principalId));
  if (!isKnown) throw fail("core.not_found");
  await tenants.addMember(tenant, principalId);
  recordCall(context, { member_id: principalId, is_member: true }, tenant);
  await changeRoles(context, principalId, { given: roles, taken: [] }, tenant);
}
