// Who may give which roles, and which of them somebody must always have (decisions.md "Members").
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { recordCall } from "../../operations/recorded.js";
import { tenantStore } from "../../ports/tenants.js";
import { grantsOf } from "../identity/grants.js";
import { grantOfRole, rolesGiving, rolesPermitting, type Roles } from "../identity/roles.js";
import type { IdentitySpec, MembersSpec } from "../identity/spec.js";

/** The declaration of members: without it these operations don't exist. */
export function membersOf({ members }: IdentitySpec): MembersSpec {
  if (members === undefined) throw new Error("tenancy.members is not declared");
  return members;
}

/** Whether a principal may give all of these roles to members of a tenant, and take them. */
export async function givesRoles(
  spec: IdentitySpec,
  context: ExecutionContext,
  { principalId, tenant }: { readonly principalId: string; readonly tenant: string },
  roles: readonly string[],
): Promise<boolean> {
  for (const role of roles) {
    const sufficing = [...grantsAbove(spec), ...rolesGiving(spec.roles ?? {}, role)];
    if (!(await hasOneOf(spec, context, { principalId, tenant }, sufficing))) return false;
  }
  return true;
}

/** What is granted to those who give every role. */
function grantsAbove(spec: IdentitySpec): readonly string[] {
  const { givesAll } = membersOf(spec);
  return [...givesAll, ...rolesPermitting(spec.roles ?? {}, givesAll)];
}

async function hasOneOf(
  spec: IdentitySpec,
  context: ExecutionContext,
  { principalId, tenant }: { readonly principalId: string; readonly tenant: string },
  sufficing: readonly string[],
): Promise<boolean> {
  // An empty list would be an error of SQL.
  if (sufficing.length === 0) return false;
  return grantsOf(spec, context).hasGrant(tenant, principalId, sufficing);
}

/** Throws `core.authorization` unless the caller may give these roles and take them. */
export async function expectGives(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
  roles: readonly string[],
): Promise<void> {
  const caller = { principalId, tenant: context.tenant };
  for (const role of roles)
    if (!(await givesRoles(spec, context, caller, [role])))
      throw fail("core.authorization", { missing: `a role that gives ${role}` });
}

/**
 * Throws `core.authorization` unless the caller may take everything that somebody was granted in
 * the tenant: roles of the registry as it gives them, and the rest if it stands above all.
 */
export async function expectTakes(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
  grants: readonly string[],
): Promise<void> {
  const roles = rolesAmong(spec, grants);
  await expectGives(spec, context, principalId, roles);
  if (grants.length === roles.length) return;
  const caller = { principalId, tenant: context.tenant };
  if (!(await hasOneOf(spec, context, caller, grantsAbove(spec))))
    throw fail("core.authorization", { missing: membersOf(spec).givesAll.join(" or ") });
}

/** The roles of the registry among what somebody was granted. */
export function rolesAmong({ roles = {} }: IdentitySpec, grants: readonly string[]): string[] {
  return Object.keys(roles).filter((name) => grants.includes(grantOfRole(name)));
}

/** The names of all roles among what somebody was granted. */
export function rolesNamed(grants: readonly string[]): readonly string[] {
  const prefix = grantOfRole("");
  return grants.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}

/** The roles of the registry that a member has in the tenant of a context. */
export async function rolesHeld(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
  tenant: string = context.tenant,
): Promise<readonly string[]> {
  return rolesAmong(
    spec,
    await context.transaction.of(tenantStore).listGrants(tenant, principalId),
  );
}

/**
 * Throws `last_holder` if a member is the only one with one of these roles that gives itself:
 * nobody could give it any more. The members of the tenant are held first.
 */
export async function expectOtherHolders(
  { roles = {} }: { readonly roles?: Roles | undefined },
  context: ExecutionContext,
  principalId: string,
  losing: readonly string[],
  tenant: string = context.tenant,
): Promise<void> {
  const tenants = context.transaction.of(tenantStore);
  for (const role of losing) {
    if (!(roles[role]?.gives ?? []).includes(role)) continue;
    if (!(await tenants.hasOtherHolder(tenant, grantOfRole(role), principalId)))
      throw fail("last_holder", { role });
  }
}

/** Gives a member some roles and takes others, in the tenant of a context. */
export async function changeRoles(
  context: ExecutionContext,
  principalId: string,
  { given, taken }: { readonly given: readonly string[]; readonly taken: readonly string[] },
  tenant: string = context.tenant,
): Promise<void> {
  const tenants = context.transaction.of(tenantStore);
  for (const role of given) await tenants.grant(tenant, principalId, grantOfRole(role));
  for (const role of taken) await tenants.revoke(tenant, principalId, grantOfRole(role));
  if (given.length + taken.length > 0)
    recordCall(context, { member_id: principalId, given, taken }, tenant);
  if (taken.length === 0) return;
  // What the roles permitted may be read over connections that are open.
  context.endsCredentials({ principalId });
}
