// Provisioning of principals and permissions (on which the specification is silent), and
// deactivation (service.md "Authentication routes").
import { fail } from "../../contract/errors.js";
import { canonicalIds } from "../../operations/canonical-ids.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { canonicalLogin } from "./canonical-login.js";
import { grantsOf } from "./grants.js";
import { createPrincipal } from "./provision.js";
import type { IdentitySpec } from "./spec.js";
import { identityStore, type Principal, type Subject } from "../../ports/identity.js";
import type { CredentialScope } from "../../ports/signals.js";
import { tenantStore } from "../../ports/tenants.js";

/**
 * Who holds permissions, and where: a principal or a role (exactly one of them), in a tenant or
 * everywhere.
 */
interface Holder {
  readonly principal_id?: string;
  readonly role?: string;
  readonly tenant_id?: string;
}

interface Grant extends Holder {
  readonly permission: string;
}

interface PrincipalEntry {
  readonly principal_id: string;
  readonly login: string;
  readonly is_active: boolean;
}

function entryOf({ id, login, isActive }: Principal): PrincipalEntry {
  return { principal_id: id, login, is_active: isActive };
}

/** Handlers of the administration of principals. */
export const principals = {
  createPrincipal:
    (): Handler<
      { readonly login: string; readonly password: string },
      { readonly principal_id: string }
    > =>
    async (given, context) => ({ principal_id: await createPrincipal(context, given) }),

  /** The principal with this login, or none. */
  findPrincipals:
    (): Handler<{ readonly login: string }, { readonly principals: readonly PrincipalEntry[] }> =>
    async ({ login }, context) => {
      const found = await context.transaction
        .of(identityStore)
        .findPrincipalByLogin(canonicalLogin(login));
      return { principals: found === null ? [] : [entryOf(found)] };
    },

  /** The principal that a subject of another issuer is mapped to, or none. */
  findSubject:
    (): Handler<Subject, { readonly principals: readonly PrincipalEntry[] }> =>
    async (subject, context) => {
      const found = await context.transaction.of(identityStore).findSubject(subject);
      return { principals: found === null ? [] : [entryOf(found)] };
    },

  /**
   * Throws `core.not_found` for an unknown principal, and `core.conflict` where the subject is
   * mapped already.
   */
  linkSubject:
    (): Handler<Subject & { readonly principal_id: string }, void> =>
    async ({ issuer, subject, ...given }, context) => {
      const { principal_id: id } = canonicalIds(given);
      const identities = context.transaction.of(identityStore);
      if ((await identities.findPrincipal(id)) === null) throw fail("core.not_found");
      if (!(await identities.addSubject({ issuer, subject }, id)))
        throw fail("core.conflict", { reason: "the subject is mapped already" });
    },

  /** If the subject comes again, it gets a new principal. */
  unlinkSubject:
    (): Handler<Subject, void> =>
    async ({ issuer, subject }, context) => {
      const identities = context.transaction.of(identityStore);
      const found = await identities.findSubject({ issuer, subject });
      if (found === null || !(await identities.dropSubject({ issuer, subject })))
        throw fail("core.not_found");
      context.endsCredentials({ principalId: found.id });
    },

  /**
   * The principal may sign in again; its permissions and memberships ended with the deactivation.
   */
  reactivatePrincipal:
    (): Handler<{ readonly principal_id: string }, void> => async (given, context) => {
      const { principal_id: id } = canonicalIds(given);
      if (!(await context.transaction.of(identityStore).reactivate(id)))
        throw fail("core.not_found");
    },

  /**
   * Ends every session of the principal, its memberships and permissions; it cannot sign in again.
   */
  deactivatePrincipal:
    (): Handler<{ readonly principal_id: string }, void> => async (given, context) => {
      const { principal_id: id } = canonicalIds(given);
      await recordLeaving(context, id);
      if (!(await context.transaction.of(identityStore).deactivate(id, context.clock.now())))
        throw fail("core.not_found");
      await context.resources.departed(context, { principalId: id, tenant: null });
      context.endsCredentials({ principalId: id });
    },

  /**
   * Throws `core.not_found` for a principal that is unknown or not active, and for a tenant that it
   * is not a member of.
   */
  grantPermission:
    (spec: IdentitySpec): Handler<Grant, void> =>
    async (given, context) => {
      const grant = canonicalIds(given);
      const { principal_id: principalId } = grant;
      // Locked, so that a concurrent deactivation, or the end of a membership, also removes what is
      // granted here.
      if (
        principalId !== undefined &&
        grant.role === undefined &&
        !(await context.transaction.of(identityStore).holdPrincipal(principalId))
      )
        throw fail("core.not_found");
      const subject = await holderOf(grant, context);
      await grantsOf(spec, context).grant(grant.tenant_id ?? null, subject, grant.permission);
      recordGrant(context, grant, { given: [grant.permission] });
    },

  /** Throws `core.not_found` if there is no such permission. */
  revokePermission:
    (spec: IdentitySpec): Handler<Grant, void> =>
    async (given, context) => {
      const grant = canonicalIds(given);
      const grants = grantsOf(spec, context);
      const subject = subjectOf(grant);
      if (!(await grants.revoke(grant.tenant_id ?? null, subject, grant.permission)))
        throw fail("core.not_found");
      recordGrant(context, grant, { taken: [grant.permission] });
      context.endsCredentials(concernedBy(grant));
    },

  /** Permissions that were given to the holder itself, not those that come by its roles. */
  listPermissions:
    (spec: IdentitySpec): Handler<Holder, { readonly permissions: readonly string[] }> =>
    async (holder, context) => {
      const subject = await holderOf(holder, context);
      const grants = grantsOf(spec, context);
      return { permissions: await grants.listGrants(holder.tenant_id ?? null, subject) };
    },
};

/** Notes in each tenant of a principal that it is no member any more. */
export async function recordLeaving(context: ExecutionContext, principalId: string): Promise<void> {
  if (context.resources.recorded === null) return;
  const joined = await context.transaction.of(tenantStore).listMemberships(principalId);
  for (const { id } of joined)
    recordCall(context, { member_id: principalId, is_member: false }, id);
}

/** Notes a permission that is given or taken, in the tenant where it counts. */
function recordGrant(
  context: ExecutionContext,
  { principal_id: memberId, role, tenant_id: tenant }: Grant,
  change: { readonly given: readonly string[] } | { readonly taken: readonly string[] },
): void {
  const whose = memberId === undefined ? { role } : { member_id: memberId };
  recordCall(context, { ...whose, ...change }, tenant);
}

/** The subject of an existing holder. Throws `core.not_found`. */
async function holderOf(holder: Holder, { transaction }: ExecutionContext): Promise<string> {
  const { principal_id: principalId, tenant_id: tenantId } = holder;
  const identity = transaction.of(identityStore);
  const tenants = transaction.of(tenantStore);
  const subject = subjectOf(holder);
  const isThere =
    principalId === undefined
      ? tenantId === undefined || (await tenants.findTenant(tenantId)) !== null
      : tenantId === undefined
        ? (await identity.findPrincipal(principalId)) !== null
        : await tenants.isMember(tenantId, principalId);
  if (!isThere) throw fail("core.not_found");
  return subject;
}

/** Who may hold what a holder holds: a role may be anybody's, in its tenant or everywhere. */
function concernedBy({ principal_id: principalId, tenant_id: tenant }: Holder): CredentialScope {
  if (principalId !== undefined) return { principalId };
  return tenant === undefined ? { everywhere: true } : { tenant };
}

/** The principal's id, or `role:<name>`. Throws `core.validation` unless exactly one is given. */
function subjectOf({ principal_id: principalId, role }: Holder): string {
  if ((principalId === undefined) === (role === undefined)) {
    const message = "must have either principal_id or role";
    throw fail("core.validation", { errors: [{ path: "", keyword: "oneOf", message }] });
  }
  return principalId ?? `role:${role ?? ""}`;
}
