// The ports of authorization: who decides, and which rows (service.md "Authorization per operation").
import type { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import { tenantStore } from "../../ports/tenants.js";

/** Whether one subject may do one of some actions. */
export interface Question {
  readonly principalId: string;
  /** `tasks.write`, and the permission keys that stand above it; any of them suffices. */
  readonly actions: readonly string[];
  /** The tenant it would happen in; null for actions that reach across tenants, and where there is none. */
  readonly tenant: string | null;
}

/** Decides a question. Throwing refuses the request with that error. */
export type DecisionPort = (
  question: Question,
  context: ExecutionContext,
) => Promise<boolean> | boolean;

/**
 * Which rows of a document the caller sees: a filter as lists take it, over the declared fields, the base fields and
 * `owner_id` (the principal that created the row). `{}` is every row.
 */
export type ScopePort = (
  question: { readonly document: string; readonly identity: Identity },
  context: ExecutionContext,
) => Promise<object> | object;

/** Decides by the permissions that principals have, themselves and by roles. */
export const decideByPermissions: DecisionPort = ({ principalId, actions, tenant }, context) =>
  context.transaction.of(tenantStore).hasGrant(tenant, principalId, actions);
