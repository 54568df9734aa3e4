// The ports of authorization: who decides, and which rows (service.md "Authorization per
// operation").
import type { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import type { FormerPermissions } from "./former-permissions.js";
import { grantsOf } from "./grants.js";

/** Whether one subject may do one of some actions. */
export interface Question {
  readonly principalId: string;
  /**
   * `tasks.write`, the permission keys that stand above it, and the roles of the registry that
   * have one of these (`role:agent`); any of them suffices.
   */
  readonly actions: readonly string[];
  /**
   * The tenant it would happen in; null for actions that reach across tenants, and where there is
   * none.
   */
  readonly tenant: string | null;
}

/** Decides a question. Throwing refuses the request with that error. */
export type DecisionPort = (
  question: Question,
  context: ExecutionContext,
) => Promise<boolean> | boolean;

/**
 * Which rows of a document the caller sees: a filter as lists take it, over the declared fields,
 * the base fields and `owner_id` (the principal that created the row). `{}` is every row.
 */
export type ScopePort = (
  question: { readonly document: string; readonly identity: Identity },
  context: ExecutionContext,
) => Promise<object> | object;

/** As `ScopePort`, also for callers who are not signed in: their identity is null. */
export type OpenScopePort = (
  question: { readonly document: string; readonly identity: Identity | null },
  context: ExecutionContext,
) => Promise<object> | object;

/**
 * Decides by the permissions that principals have, themselves and by roles; `former` is what
 * permissions were called.
 */
export function decidingByPermissions(former?: FormerPermissions): DecisionPort {
  return ({ principalId, actions, tenant }, context) =>
    grantsOf({ former }, context).hasGrant(tenant, principalId, actions);
}

/** The same in a service whose permissions have always had their names. */
export const decideByPermissions: DecisionPort = decidingByPermissions();
