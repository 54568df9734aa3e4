// What authors call of tenants: calls that they have to await.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { callInTurn } from "../../operations/held-calls.js";
import { identityStore } from "../../ports/identity.js";
import { tenantStore } from "../../ports/tenants.js";
import { changeRoles, rolesNamed } from "./member-roles.js";
import { endMembership } from "./members.js";
import { addMember, addTenant, type NewMember } from "./provision.js";

/** A tenant that a handler creates. */
export interface NewTenant {
  /** Its unique name: lower-case letters, digits and hyphens. */
  readonly key: string;
  /** Its first member; none where left out. */
  readonly founder?: Omit<NewMember, "tenant">;
}

/** A membership by its two ends. */
export type MembershipOf = Pick<NewMember, "tenant" | "principalId">;

/**
 * Tenants and their members, for handlers that have a write transaction. What the caller may do is
 * for the operation's guard to say: these functions ask no more.
 */
export const tenants = {
  /**
   * Adds an active tenant, and returns its id; `context.inTenant(id)` writes into it. Throws
   * `core.conflict` if the key is taken, and `core.not_found` for a founder that is not active.
   */
  create: (context: ExecutionContext, { key, founder }: NewTenant): Promise<string> =>
    callInTurn(context, "tenants.create", async () => {
      const tenant = await addTenant(context, key);
      if (founder !== undefined) await addMember(context, { ...founder, tenant });
      return tenant;
    }),

  /**
   * Makes a principal a member with these roles, besides those that it has. Throws `core.not_found`
   * for a tenant that is not there and a principal that is not active.
   */
  addMember: (context: ExecutionContext, member: NewMember): Promise<void> =>
    callInTurn(context, "tenants.addMember", () => addMember(context, member)),

  /**
   * Gives a member these roles and no others, whoever had given them. Permissions that it was
   * granted itself stay. Throws `core.not_found` for somebody who is no member.
   */
  setRoles: (
    context: ExecutionContext,
    { tenant, principalId, roles = [] }: NewMember,
  ): Promise<void> =>
    callInTurn(context, "tenants.setRoles", async () => {
      const { transaction } = context;
      await transaction.of(identityStore).holdPrincipal(principalId);
      const held = await rolesIn(context, { tenant, principalId });
      if (held === null) throw fail("core.not_found");
      const given = roles.filter((role) => !held.includes(role));
      const taken = held.filter((role) => !roles.includes(role));
      await changeRoles(context, principalId, { given, taken }, tenant);
    }),

  /** The names of the roles of a member; null for somebody who is none. */
  rolesOf: (
    context: ExecutionContext,
    membership: MembershipOf,
  ): Promise<readonly string[] | null> =>
    callInTurn(context, "tenants.rolesOf", () => rolesIn(context, membership)),

  /**
   * Ends a membership with its roles and permissions, and its sessions and keys in the tenant.
   * Throws `core.not_found` if there is none.
   */
  removeMember: (context: ExecutionContext, { tenant, principalId }: MembershipOf): Promise<void> =>
    callInTurn(context, "tenants.removeMember", () => endMembership(context, principalId, tenant)),
};

async function rolesIn(
  { transaction }: ExecutionContext,
  { tenant, principalId }: MembershipOf,
): Promise<readonly string[] | null> {
  const store = transaction.of(tenantStore);
  if (!(await store.isMember(tenant, principalId))) return null;
  return rolesNamed(await store.listGrants(tenant, principalId));
}
