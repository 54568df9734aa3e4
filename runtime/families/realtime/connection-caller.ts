// Who is calling over a connection: the same caller all along, whose credential another may follow.
import type { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";

export interface ConnectionCaller {
  /** Who is calling now: another session may have taken the place of the first. */
  readonly identity: Identity;
  /** Whether the credential is still valid. */
  isGood(): Promise<boolean>;
  /** A context of the caller, as for a new request, with a deadline of its own. */
  newContext(): ExecutionContext;
  /** Ends the connection once its running commands have been answered: the service stops. */
  leave(): Promise<void>;
}

/**
 * What connections have in common whose credentials end together: the session and what it is
 * scoped to; null is nothing.
 */
export function sessionOf({ identity }: Pick<ConnectionCaller, "identity">): string | null {
  const { sessionId, tenant, expiresAt } = identity;
  return sessionId === null ? null : `${sessionId} ${tenant} ${expiresAt}`;
}

/** What connections in a tenant have in common that may hear the same topics: their caller. */
export function listenerOf(
  tenant: string,
  { identity }: Pick<ConnectionCaller, "identity">,
): string {
  const { principalId, actorId, sessionId } = identity;
  return JSON.stringify([tenant, principalId, actorId, sessionId]);
}
