// Who is calling, once a credential has been verified and resolved (service.md "Boundary
// middleware").
import { fail, type ServiceError } from "../contract/errors.js";

/** A verified caller. */
export interface Identity {
  readonly principalId: string;
  /** The actor for the principal: both must be permitted. Null if it acts itself. */
  readonly actorId: string | null;
  /** The session of a token; null for an API key. */
  readonly sessionId: string | null;
  /** Null if the credential is not scoped to a tenant. */
  readonly tenant: string | null;
  /** Epoch milliseconds at which the credential ends, or null. */
  readonly expiresAt: number | null;
  /**
   * The permissions that the credential is for, of those that its principal has, by any of their
   * names; all of them where it is null or left out.
   */
  readonly scopes?: readonly string[] | null;
}

/** Throws `core.authorization` for a caller whose credential is for some permissions only. */
export function expectWhole({ identity }: { readonly identity: Identity | null }): void {
  if ((identity?.scopes ?? null) !== null)
    throw fail("core.authorization", { missing: "a credential without scopes" });
}

/** The caller. Throws `core.authentication` if there is none. */
export function callerOf({ identity }: { readonly identity: Identity | null }): Identity {
  if (identity === null) throw fail("core.authentication");
  return identity;
}

/**
 * The caller with its session, an actor's too. Throws `core.authentication` and, for an API key,
 * `core.authorization`.
 */
export function anySessionOf(invocation: {
  readonly identity: Identity | null;
}): Identity & { readonly sessionId: string } {
  const caller = callerOf(invocation);
  const { sessionId } = caller;
  if (sessionId === null) throw withoutSession();
  return { ...caller, sessionId };
}

/**
 * The caller with its session. Throws `core.authentication` if nobody is calling, and
 * `core.authorization` for an API key and for an actor: neither may manage credentials.
 */
export function sessionOf(invocation: {
  readonly identity: Identity | null;
}): Identity & { readonly sessionId: string } {
  const caller = anySessionOf(invocation);
  if (caller.actorId !== null) throw withoutSession();
  return caller;
}

/** The refusal of a caller without a session of its own, which names what is missing. */
function withoutSession(): ServiceError {
  return fail("core.authorization", { missing: "a session of the caller's own" });
}

/**
 * Everybody who must be permitted: the principal, and its actor (service.md "Authorization per
 * operation", rule 3).
 */
export function subjectsOf({ principalId, actorId }: Identity): readonly string[] {
  return actorId === null ? [principalId] : [principalId, actorId];
}

/** What the caller has shown: some operations only take a session. Null without a caller. */
export function credentialOf(identity: Identity | null): "session" | "api_key" | null {
  if (identity === null) return null;
  return identity.sessionId === null ? "api_key" : "session";
}
