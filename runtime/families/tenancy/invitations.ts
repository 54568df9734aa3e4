// Invitations to the caller's tenant: a mailed token makes whoever brings it back a member
// (decisions.md "Members").
import { fail, refusedCredentials } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { heldSession } from "../../operations/held-session.js";
import { sessionOf } from "../../operations/identity.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { identityStore } from "../../ports/identity.js";
import { invitationStore, type Invitation } from "../../ports/invitations.js";
import { tenantStore, type Tenant } from "../../ports/tenants.js";
import { uuidv7 } from "../../ports/uuid.js";
import { canonicalLogin } from "../identity/canonical-login.js";
import { issueSession, type TokenResponse } from "../identity/operations.js";
import { mailedDigests, newMailedToken } from "../identity/mailed-token.js";
import { hashPassword } from "../identity/passwords.js";
import { makePrincipal, takeSignUpAttempt } from "../identity/sign-up.js";
import type { IdentitySpec } from "../identity/spec.js";
import { stage } from "../outbox/stage.js";
import { changeRoles, expectGives, givesRoles, membersOf } from "./member-roles.js";

/** An invitation that nobody has accepted yet. */
export interface InvitationEntry {
  readonly invitation_id: string;
  readonly login: string;
  readonly roles: readonly string[];
  readonly invited_by: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/**
 * The integration event from which the mail of an invitation is made. It carries the token itself.
 */
export interface MemberInvited {
  readonly login: string;
  readonly tenant_id: string;
  readonly tenant_key: string;
  readonly roles: readonly string[];
  /** The principal that invites. */
  readonly invited_by: string;
  readonly token: string;
  /** RFC 3339. */
  readonly expires_at: string;
}

/** The tenant that somebody has become a member of. */
export interface JoinedTenant {
  readonly tenant_id: string;
  readonly tenant_key: string;
}

/** What somebody brings who has no account yet. */
export interface InvitedRegistration {
  readonly token: string;
  readonly password: string;
  readonly profile?: object;
}

const purpose = "invitation-digest";
const eventName = "tenancy.member_invited";
/** Open invitations that a tenant may have. */
const maxInvitations = 1_000;

/** Handlers of invitations. Those that hash, or count attempts, open a transaction of their own. */
export const invitations = {
  /**
   * Keeps an invitation until its token comes back, and stages the event; an earlier one of the
   * login to this tenant is superseded. Throws `core.authorization` if the caller doesn't give one
   * of the roles, `core.conflict` for a member, and `invitations_limit`.
   */
  invite:
    (
      spec: IdentitySpec,
    ): Handler<{ readonly login: string; readonly roles: readonly string[] }, InvitationEntry> =>
    async ({ login: given, roles }, context) => {
      const login = canonicalLogin(given);
      await expectGives(spec, context, sessionOf(context).principalId, roles);
      await takeSignUpAttempt(context, login);
      const { token, digest } = newMailedToken(context, purpose);
      return context.transact(async (transaction) => {
        const caller = await heldSession(context);
        const { tenant } = context;
        const createdAt = context.clock.now();
        await expectNoMember(context, login);
        const store = transaction.of(invitationStore);
        const earlier = await store.findOf(tenant, login, createdAt);
        await expectGives(spec, context, caller.principalId, rolesStill(spec, earlier));
        if ((await store.countOthers(tenant, login, createdAt)) >= maxInvitations)
          throw fail("invitations_limit", { most: maxInvitations });
        const invitation: Invitation = {
          id: uuidv7(),
          tenant,
          login,
          roles,
          invitedBy: caller.principalId,
          createdAt,
          expiresAt: createdAt + membersOf(spec).invitationTtlSeconds * 1000,
        };
        await store.put({ ...invitation, digest });
        context.note({ invitation_id: invitation.id });
        recordCall(context, { invitation_id: invitation.id, roles });
        const { key } = await activeTenant(context, tenant);
        const event: MemberInvited = {
          login,
          tenant_id: tenant,
          tenant_key: key,
          roles,
          invited_by: caller.principalId,
          token,
          expires_at: new Date(invitation.expiresAt).toISOString(),
        };
        await stage(context, eventName, event);
        return entryOf(spec, invitation);
      });
    },

  /** The open invitations of the caller's tenant, oldest first. */
  listInvitations:
    (
      spec: IdentitySpec,
    ): Handler<
      Readonly<Record<never, never>>,
      { readonly invitations: readonly InvitationEntry[] }
    > =>
    async (_input, context) => {
      const found = await context.transaction
        .of(invitationStore)
        .list(context.tenant, context.clock.now());
      return { invitations: found.map((one) => entryOf(spec, one)) };
    },

  /**
   * Throws `core.not_found` if there is no such invitation, and `core.authorization` if the caller
   * doesn't give its roles.
   */
  revokeInvitation:
    (spec: IdentitySpec): Handler<{ readonly id: string }, void> =>
    async ({ id }, context) => {
      const caller = await heldSession(context);
      const removed = await context.transaction.of(invitationStore).remove(context.tenant, id);
      if (removed === null) throw fail("core.not_found");
      await expectGives(spec, context, caller.principalId, rolesStill(spec, removed));
    },

  /**
   * Makes the caller a member with the roles of an invitation. Every token that is not valid is the
   * same `core.not_found`. Throws `tenant_inactive`.
   */
  acceptInvitation:
    (spec: IdentitySpec): Handler<{ readonly token: string }, JoinedTenant> =>
    async ({ token }, context) => {
      const { principalId } = sessionOf(context);
      const { transaction } = context;
      if (!(await transaction.of(identityStore).holdPrincipal(principalId)))
        throw refusedCredentials();
      return join(spec, context, principalId, await takeInvitation(spec, context, token));
    },

  /**
   * Makes a principal for whom an invitation was mailed to, with its profile, and signs it in.
   * Throws `core.not_found` for every token that is not valid, `unique_violation` where the login
   * has a principal already, who can sign in and accept, and `tenant_inactive`.
   */
  registerInvited:
    (spec: IdentitySpec): Handler<InvitedRegistration, TokenResponse> =>
    async ({ token, password, profile }, context) => {
      // Checked first, so that an unknown token costs no hashing.
      const found = await context.transaction
        .of(invitationStore)
        .find(mailedDigests(context, purpose, token), context.clock.now());
      if (found === null) throw fail("core.not_found");
      const { login } = found;
      const passwordHash = await hashPassword(context, { password, login, at: "/password" });
      return context.transact(async () => {
        const invitation = await takeInvitation(spec, context, token);
        const principalId = await makePrincipal(
          { profile: spec.signUp?.profile ?? null },
          context,
          {
            login,
            passwordHash,
            profile: { ...profile },
          },
        );
        const { tenant_id: tenant } = await join(spec, context, principalId, invitation);
        return issueSession(spec, context, { principalId, tenant });
      });
    },
};

/**
 * Uses up an invitation. It lasts as long as who has sent it may give its roles: whoever was
 * removed from the tenant has left none behind. Throws `core.not_found`.
 */
async function takeInvitation(
  spec: IdentitySpec,
  context: ExecutionContext,
  token: string,
): Promise<Invitation> {
  const invitation = await context.transaction
    .of(invitationStore)
    .take(mailedDigests(context, purpose, token), context.clock.now());
  if (invitation === null) throw fail("core.not_found");
  const { tenant, invitedBy: principalId } = invitation;
  const roles = rolesStill(spec, invitation);
  const isMeant =
    (await context.transaction.of(tenantStore).isMember(tenant, principalId)) &&
    (await givesRoles(spec, context, { principalId, tenant }, roles));
  if (!isMeant) throw fail("core.not_found");
  return invitation;
}

/** The roles of an invitation that the registry still has; none without an invitation. */
function rolesStill(
  { roles: declared = {} }: IdentitySpec,
  invitation: Invitation | null,
): readonly string[] {
  return (invitation?.roles ?? []).filter((role) => Object.hasOwn(declared, role));
}

/** Makes a principal, which is held, a member with the roles of an invitation. */
async function join(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
  invitation: Invitation,
): Promise<JoinedTenant> {
  const { id, tenant, invitedBy } = invitation;
  const { key } = await activeTenant(context, tenant);
  await context.transaction.of(tenantStore).addMember(tenant, principalId);
  recordCall(
    context,
    {
      member_id: principalId,
      is_member: true,
      invitation_id: id,
      invited_by: invitedBy,
    },
    tenant,
  );
  const given = rolesStill(spec, invitation);
  await changeRoles(context, principalId, { given, taken: [] }, tenant);
  context.note({ joined_tenant_id: tenant, invitation_id: id, invited_by: invitedBy });
  return { tenant_id: tenant, tenant_key: key };
}

/** Throws `core.not_found` and `tenant_inactive`. */
async function activeTenant({ transaction }: ExecutionContext, id: string): Promise<Tenant> {
  const tenant = await transaction.of(tenantStore).findTenant(id);
  if (tenant === null) throw fail("core.not_found");
  if (!tenant.isActive) throw fail("tenant_inactive");
  return tenant;
}

async function expectNoMember(
  { transaction, tenant }: ExecutionContext,
  login: string,
): Promise<void> {
  const known = await transaction.of(identityStore).findPrincipalByLogin(login);
  if (known !== null && (await transaction.of(tenantStore).isMember(tenant, known.id)))
    throw fail("core.conflict", { reason: "the login is that of a member" });
}

function entryOf(spec: IdentitySpec, invitation: Invitation): InvitationEntry {
  return {
    invitation_id: invitation.id,
    login: invitation.login,
    roles: rolesStill(spec, invitation),
    invited_by: invitation.invitedBy,
    created_at: new Date(invitation.createdAt).toISOString(),
    expires_at: new Date(invitation.expiresAt).toISOString(),
  };
}
