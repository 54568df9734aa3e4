// The members of the caller's tenant: who they are, which roles they have, and their end
// (decisions.md "Members").
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { heldSession, holdPrincipals } from "../../operations/held-session.js";
import { sessionOf, type Identity } from "../../operations/identity.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { identityStore } from "../../ports/identity.js";
import { invitationStore } from "../../ports/invitations.js";
import { tenantStore } from "../../ports/tenants.js";
import { showOwned } from "../documents/owned.js";
import type { IdentitySpec } from "../identity/spec.js";
import {
  changeRoles,
  expectGives,
  expectOtherHolders,
  expectTakes,
  membersOf,
  rolesAmong,
  rolesHeld,
} from "./member-roles.js";

/** A member of the caller's tenant. */
export interface MemberEntry {
  readonly principal_id: string;
  readonly login: string;
  readonly roles: readonly string[];
  /** What the registry shows of the profile; null for a member without one. */
  readonly profile?: object | null;
}

/** Members of one answer. */
const pageSize = 100;

interface MemberPage {
  readonly members: readonly MemberEntry[];
  readonly has_more: boolean;
}

/** Handlers of members; each is about the tenant that the caller's credential is scoped to. */
export const members = {
  /** The members by their ids, with their roles and what is shown of their profiles. */
  list:
    (spec: IdentitySpec): Handler<{ readonly after?: string }, MemberPage> =>
    async ({ after }, context) => {
      const found = await context.transaction
        .of(tenantStore)
        .listMemberPage(context.tenant, after?.toLowerCase(), pageSize + 1);
      const shown = found.slice(0, pageSize);
      const profiles = await profilesOf(
        spec,
        context,
        shown.map(({ principalId }) => principalId),
      );
      return {
        members: shown.map(({ principalId, login, grants }) => ({
          principal_id: principalId,
          login,
          roles: rolesAmong(spec, grants),
          ...(profiles === null ? {} : { profile: profiles.get(principalId) ?? null }),
        })),
        has_more: found.length > pageSize,
      };
    },

  /**
   * Gives a member these roles of the registry and no others. Throws `core.not_found` for somebody
   * who is no member, `core.authorization` if the caller doesn't give one of those that change, and
   * `last_holder`.
   */
  setRoles:
    (
      spec: IdentitySpec,
    ): Handler<{ readonly id: string; readonly roles: readonly string[] }, void> =>
    async ({ id, roles }, context) => {
      const caller = await heldCaller(context, id);
      const held = await holdMember(spec, context, id);
      const given = roles.filter((role) => !held.includes(role));
      const taken = held.filter((role) => !roles.includes(role));
      await expectGives(spec, context, caller.principalId, [...given, ...taken]);
      await expectOtherHolders(spec, context, id, taken);
      await changeRoles(context, id, { given, taken });
      if (taken.length > 0) await dropInvitations(context, id);
    },

  /**
   * Ends the membership of a member, with its sessions and keys in the tenant. Throws as `setRoles`
   * does, of all roles that the member has.
   */
  remove:
    (spec: IdentitySpec): Handler<{ readonly id: string }, void> =>
    async ({ id }, context) => {
      const caller = await heldCaller(context, id);
      const held = await holdMember(spec, context, id);
      if (id !== caller.principalId) {
        const grants = await context.transaction.of(tenantStore).listGrants(context.tenant, id);
        await expectTakes(spec, context, caller.principalId, grants);
      }
      await expectOtherHolders(spec, context, id, held);
      await endMembership(context, id, context.tenant);
    },

  /**
   * Gives a member all roles of the caller besides its own, and the caller the roles `keep` instead
   * of its own. Throws as `setRoles` does.
   */
  handOver:
    (
      spec: IdentitySpec,
    ): Handler<{ readonly id: string; readonly keep: readonly string[] }, void> =>
    async ({ id, keep }, context) => {
      const { principalId } = await heldCaller(context, id);
      if (id === principalId) throw fail("core.conflict", { reason: "these are your own roles" });
      const theirs = await holdMember(spec, context, id);
      const own = await rolesHeld(spec, context, principalId);
      const given = own.filter((role) => !theirs.includes(role));
      const taken = own.filter((role) => !keep.includes(role));
      const kept = keep.filter((role) => !own.includes(role));
      await expectGives(spec, context, principalId, [...given, ...taken, ...kept]);
      await changeRoles(context, id, { given, taken: [] });
      await changeRoles(context, principalId, { given: kept, taken });
      if (taken.length > 0) await dropInvitations(context, principalId);
    },
};

/** The caller with its session; it and the other principal are held. */
async function heldCaller(context: ExecutionContext, otherId: string): Promise<Identity> {
  await holdPrincipals(context, [sessionOf(context).principalId, otherId]);
  return heldSession(context);
}

/** Whoever may do less than before has invited nobody. */
function dropInvitations({ transaction, tenant }: ExecutionContext, by: string): Promise<void> {
  return transaction.of(invitationStore).removeOf(by, tenant);
}

/**
 * Throws `last_holder` if a tenant can't be without a member, unless it has no other. The members
 * of the tenant are held until the transaction ends.
 */
export async function expectToSpare(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
  tenant: string,
): Promise<void> {
  const { transaction } = context;
  await transaction.of(identityStore).holdPrincipal(principalId);
  await transaction.of(tenantStore).holdMembers(tenant);
  const some = await transaction.of(tenantStore).listMemberPage(tenant, undefined, 2);
  if (some.length < 2) return;
  const held = await rolesHeld(spec, context, principalId, tenant);
  await expectOtherHolders(spec, context, principalId, held, tenant);
}

/**
 * Ends a membership, with what belongs to it elsewhere. Throws `core.not_found` if there is none.
 */
export async function endMembership(
  context: ExecutionContext,
  principalId: string,
  tenant: string,
): Promise<void> {
  const tenants = context.transaction.of(tenantStore);
  if (!(await tenants.removeMember(tenant, principalId, context.clock.now())))
    throw fail("core.not_found");
  recordCall(context, { member_id: principalId, is_member: false }, tenant);
  await context.resources.departed(context, { principalId, tenant });
  context.endsCredentials({ tenant });
}

/**
 * The roles of a member, who is held, as all members of the tenant are until the transaction ends.
 * Throws `core.not_found`.
 */
async function holdMember(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
): Promise<readonly string[]> {
  const { tenant, transaction } = context;
  const tenants = transaction.of(tenantStore);
  await tenants.holdMembers(tenant);
  if (!(await tenants.isMember(tenant, principalId))) throw fail("core.not_found");
  return rolesHeld(spec, context, principalId);
}

/** What the registry shows of the profiles of people, by their ids; null if it shows nothing. */
async function profilesOf(
  spec: IdentitySpec,
  context: ExecutionContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, object> | null> {
  const { shows } = membersOf(spec);
  const profile = spec.signUp?.profile?.() ?? null;
  return profile === null || shows.length === 0 ? null : showOwned(profile, context, ids, shows);
}
