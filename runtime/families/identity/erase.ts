// Erasing somebody: the account at once, then what each family keeps of them (decisions.md
// "Erasure").
import { fail } from "../../contract/errors.js";
import { canonicalIds } from "../../operations/canonical-ids.js";
import type { ExecutionContext } from "../../operations/context.js";
import { addCounts, type Erased, type ErasedCounts } from "../../operations/erased.js";
import { recordCall } from "../../operations/recorded.js";
import type { Handler } from "../../operations/operation.js";
import { identityStore } from "../../ports/identity.js";
import { tenantStore } from "../../ports/tenants.js";
import { invitationStore } from "../../ports/invitations.js";
import { recordLeaving } from "./administration.js";
import type { IdentitySpec } from "./spec.js";

/** What was erased of somebody: how many of each kind. Zeros are left out. */
export interface ErasureReport {
  readonly principal_id: string;
  readonly erased: ErasedCounts;
}

/**
 * Erases a principal: its account in one transaction, after which nobody can sign in as it, then
 * what is kept of it elsewhere, in many. Whoever is interrupted calls it again: what is erased
 * already is passed over. For operations without a transaction of their own (`transaction: read`).
 * Throws `core.not_found`.
 */
export async function erasePrincipal(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
): Promise<ErasureReport> {
  const known = await context.transaction.of(identityStore).findPrincipal(principalId);
  if (known === null) throw fail("core.not_found");
  const joined = await context.transaction.of(tenantStore).listMemberships(principalId);
  const who: Erased = {
    principalId,
    login: known.login,
    documents: new Set(),
    tenants: new Set(joined.map(({ id }) => id)),
  };
  // The login is what else is found by: it goes last, so that a second try still knows it.
  const counts: Record<string, number> = {};
  await context.transact(async (transaction) => {
    await recordLeaving(context, principalId);
    await transaction.of(identityStore).suspend(principalId, context.clock.now());
    await context.resources.departed(context, { principalId, tenant: null });
    context.endsCredentials({ principalId });
    recordCall(context, { principal_id: principalId });
  });
  addCounts(counts, await context.resources.erased(context, who));
  const tenants = [...who.tenants].sort();
  await spec.erasesAlso?.({ principalId, login: known.login, tenants }, context);
  await context.transact(async (transaction) => {
    addCounts(counts, await transaction.of(identityStore).erase(principalId));
    if (spec.members !== undefined)
      addCounts(counts, {
        invitations: await transaction.of(invitationStore).removeTo(known.login),
      });
  });
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  return { principal_id: principalId, erased: Object.fromEntries(told) };
}

/** Handlers of erasure. */
export const erasure = {
  erase:
    (spec: IdentitySpec): Handler<{ readonly principal_id: string }, ErasureReport> =>
    (given, context) =>
      erasePrincipal(spec, context, canonicalIds(given).principal_id),
};
