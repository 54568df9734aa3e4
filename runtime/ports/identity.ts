// The port of identities: principals, sessions, refresh and reset tokens (decisions.md "Authentication, API keys, tenancy").
import { storeKey } from "./store-key.js";

/** Someone who can sign in. `login` is in its one canonical form. */
export interface Principal {
  readonly id: string;
  readonly login: string;
  /** PHC string of argon2id. */
  readonly passwordHash: string;
  readonly isActive: boolean;
}

/** A sign-in and all that followed from it by refreshing: one family of refresh tokens. */
export interface Session {
  readonly id: string;
  readonly principalId: string;
  /** Who acts for the principal, or null. */
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** What the boundary asks on every request with a credential, in one query: a session, or an API key. */
export interface Trust {
  readonly credentialId: string;
  readonly principalId: string;
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** How often the session was refreshed; 0 of an API key. */
  readonly generation: number;
  /** When it was refreshed last, in epoch milliseconds; null where it never was. */
  readonly rotatedAt: number | null;
  /** Whether it has not been ended, revoked, or run out. */
  readonly isLive: boolean;
  /** Epoch milliseconds, or null for a credential that says itself when it ends, or never does. */
  readonly expiresAt: number | null;
  /** Of the principal, and of the actor where there is one. */
  readonly isActive: boolean;
  /** Both true where the credential has no tenant; membership is that of the actor as well. */
  readonly isTenantActive: boolean;
  readonly isMember: boolean;
}

/** Somebody by the name that another issuer gave. */
export interface Subject {
  readonly issuer: string;
  readonly subject: string;
}

/** One refresh token by its digest. Times are epoch milliseconds. */
export interface RefreshToken {
  readonly digest: string;
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}

/** The one outstanding reset of a principal's password. */
export interface ResetToken {
  readonly principalId: string;
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Somebody who has registered, and is a principal once the token of the registration comes back. */
export interface SignUpPending {
  readonly login: string;
  readonly passwordHash: string;
  /** JSON of what the profile is to be. */
  readonly profile: string;
}

/** A token by its digest, and when it ends in epoch milliseconds. */
export interface PendingToken {
  readonly digest: string;
  readonly expiresAt: number;
}

/** The key of the store below. */
export const identityStore = storeKey<IdentityStore>("identity");

/** Identities within one transaction. */
export interface IdentityStore {
  findPrincipalByLogin(login: string): Promise<Principal | null>;
  findPrincipal(id: string): Promise<Principal | null>;
  /** Whether the principal is there and active, and stays so until the transaction has ended. */
  holdPrincipal(id: string): Promise<boolean>;
  /** Adds a principal; false where the login is taken. */
  addPrincipal(principal: Principal): Promise<boolean>;
  /** Maps a subject to a principal; false where it is mapped already. */
  addSubject(subject: Subject, principalId: string): Promise<boolean>;
  /** The principal that a subject is mapped to; null where there is none. */
  findSubject(subject: Subject): Promise<Principal | null>;
  /** Takes the mapping of a subject away; false where there was none. */
  dropSubject(subject: Subject): Promise<boolean>;
  /**
   * How a principal stands that no session or key of the service names: by its id or its subject, with who acts for it, in
   * a tenant. Null where there is none.
   */
  standing(
    of: { readonly principalId: string } | Subject,
    actorId: string | null,
    tenant: string | null,
  ): Promise<Trust | null>;
  /** Gives a principal another login; false where that is taken, and then the transaction can only be undone. */
  setLogin(principalId: string, login: string): Promise<boolean>;
  setPassword(principalId: string, passwordHash: string): Promise<void>;
  /** Replaces the hash of an active principal where it is still `expected`; says whether it did. Atomic. */
  replacePassword(principalId: string, expected: string, passwordHash: string): Promise<boolean>;
  /**
   * Deactivates a principal; ends its sessions, API keys, reset token, memberships and permissions. False where there is
   * none.
   */
  deactivate(principalId: string, now: number): Promise<boolean>;
  /** Makes a principal active again; false where there is none. */
  reactivate(principalId: string): Promise<boolean>;
  addSession(session: Session): Promise<void>;
  /**
   * Removes sessions of a principal beyond `most`, with their refresh tokens: ended ones first, then the oldest. Says whether
   * a live one was among them.
   */
  limitSessions(principalId: string, most: number): Promise<boolean>;
  /** Ends a session of the principal; false where it has no such live session. */
  endSession(principalId: string, sessionId: string, now: number): Promise<boolean>;
  /** Ends the sessions of the principal, but for the one that is kept where one is named. */
  endSessions(principalId: string, now: number, kept?: string): Promise<void>;
  /** Whether the session is live, and stays so until the transaction has ended. */
  holdSession(sessionId: string): Promise<boolean>;
  /** Live sessions of a principal, oldest first. */
  listSessions(principalId: string): Promise<readonly Session[]>;
  trust(sessionId: string): Promise<Trust | null>;
  /** The next generation of a session, which begins now. */
  rotateSession(sessionId: string, now: number): Promise<number>;
  findRefreshToken(digest: string): Promise<RefreshToken | null>;
  /** Adds a token; a digest that is known already is left as it is. */
  addRefreshToken(token: RefreshToken): Promise<void>;
  /** Removes used tokens of a session that are older than its newest `most`. */
  limitRefreshTokens(sessionId: string, most: number): Promise<void>;
  /** Marks a token as used where it is not yet; says whether it did. Atomic. */
  useRefreshToken(digest: string, now: number): Promise<boolean>;
  /** Makes this the principal's reset token; an earlier one is superseded. */
  putResetToken(token: ResetToken): Promise<void>;
  /** The login of whom an outstanding token with one of the digests is for; null where there is none. */
  findResetLogin(digests: readonly string[], now: number): Promise<string | null>;
  /** Uses up the token with one of the digests and returns whose it was; null where none is outstanding. Atomic. */
  takeResetToken(digests: readonly string[], now: number): Promise<string | null>;
  dropResetToken(principalId: string): Promise<void>;
  /** Makes this the registration of its login; an earlier one is superseded. */
  putSignUp(signUp: SignUpPending & PendingToken): Promise<void>;
  /** Gives the registration of a login another token; false where none is outstanding. */
  renewSignUp(login: string, token: PendingToken, now: number): Promise<boolean>;
  /** Whether a registration with one of the digests is outstanding. */
  hasSignUp(digests: readonly string[], now: number): Promise<boolean>;
  /** Takes the registration with one of the digests away and returns it; null where none is outstanding. Atomic. */
  takeSignUp(digests: readonly string[], now: number): Promise<SignUpPending | null>;
  /**
   * Removes up to `limit` rows of each kind that ran out before `before`: refresh and reset tokens, registrations, sessions that were ended,
   * and those that nothing can continue any more. Says whether there may be more.
   */
  prune(before: number, limit: number): Promise<boolean>;
}
