// The port of identities: principals, sessions, refresh and reset tokens (decisions.md
// "Authentication, API keys, tenancy").
import { storeKey } from "./store-key.js";

/** Someone who can sign in. `login` is in its one canonical form. */
export interface Principal {
  readonly id: string;
  readonly login: string;
  /** PHC string of argon2id; empty if the principal has no password. */
  readonly passwordHash: string;
  readonly isActive: boolean;
}

/** A sign-in and everything that refreshes have made of it: one family of refresh tokens. */
export interface Session {
  readonly id: string;
  readonly principalId: string;
  /** The principal that acts for `principalId`, or null. */
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/**
 * What is checked about a credential (a session or an API key) on every request with it, read in
 * one query.
 */
export interface Trust {
  readonly credentialId: string;
  readonly principalId: string;
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** How often the session was refreshed; 0 for an API key. */
  readonly generation: number;
  /** When it was last refreshed, in epoch milliseconds; null if never. */
  readonly rotatedAt: number | null;
  /** Whether it has not been ended or revoked, and has not expired. */
  readonly isLive: boolean;
  /**
   * Epoch milliseconds; null for a credential that never expires, or whose token says when it does.
   */
  readonly expiresAt: number | null;
  /** Whether the principal is active, and the actor too if there is one. */
  readonly isActive: boolean;
  /**
   * Both are true if the credential has no tenant. If there is an actor, it has to be a member as
   * well.
   */
  readonly isTenantActive: boolean;
  readonly isMember: boolean;
}

/** Somebody by the name that another issuer uses for them. */
export interface Subject {
  readonly issuer: string;
  readonly subject: string;
}

/** A refresh token, which is stored as a digest. Times are epoch milliseconds. */
export interface RefreshToken {
  readonly digest: string;
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}

/** The token for resetting a principal's password; a principal has one at most. */
export interface ResetToken {
  readonly principalId: string;
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/**
 * Somebody who has registered, and becomes a principal once the token of the registration comes
 * back.
 */
export interface SignUpPending {
  readonly login: string;
  readonly passwordHash: string;
  /** The profile to create, as JSON text. */
  readonly profile: string;
}

/** The digest of a token, and when it expires in epoch milliseconds. */
export interface PendingToken {
  readonly digest: string;
  readonly expiresAt: number;
}

/** The key of the store below. */
export const identityStore = storeKey<IdentityStore>("identity");

/** Identities within one transaction. `now` and `before` are epoch milliseconds. */
export interface IdentityStore {
  findPrincipalByLogin(login: string): Promise<Principal | null>;
  findPrincipal(id: string): Promise<Principal | null>;
  /** Up to `limit` principals in the order of their ids, beginning after the id `after`. */
  listPrincipals(after: string | null, limit: number): Promise<readonly Principal[]>;
  /**
   * Whether the principal exists and is active. It is locked so that this stays true until the
   * transaction ends.
   */
  holdPrincipal(id: string): Promise<boolean>;
  /** Adds a principal; false if the login is taken. */
  addPrincipal(principal: Principal): Promise<boolean>;
  /** Maps a subject to a principal; false if it is already mapped. */
  addSubject(subject: Subject, principalId: string): Promise<boolean>;
  /** The principal that a subject is mapped to; null if there is none. */
  findSubject(subject: Subject): Promise<Principal | null>;
  /** The subjects that are mapped to a principal. */
  listSubjects(principalId: string): Promise<readonly Subject[]>;
  /** Removes the mapping of a subject; false if there was none. */
  dropSubject(subject: Subject): Promise<boolean>;
  /**
   * As `trust`, for a principal that has neither session nor API key here, because another issuer
   * vouches for it: by its id or its subject, with its actor, in a tenant. Null if there is no such
   * principal.
   */
  standing(
    of: { readonly principalId: string } | Subject,
    actorId: string | null,
    tenant: string | null,
  ): Promise<Trust | null>;
  /**
   * Changes the login of a principal; false if it is taken, and then the transaction can only be
   * rolled back.
   */
  setLogin(principalId: string, login: string): Promise<boolean>;
  setPassword(principalId: string, passwordHash: string): Promise<void>;
  /**
   * Replaces the hash of an active principal if it is still `expected`; returns whether it did.
   * Atomic.
   */
  replacePassword(principalId: string, expected: string, passwordHash: string): Promise<boolean>;
  /**
   * Deactivates a principal, and ends its sessions and API keys, those with which it acts for
   * others, its reset token, memberships and permissions. False if there is no such principal.
   */
  deactivate(principalId: string, now: number): Promise<boolean>;
  /** As `deactivate`, but memberships and permissions stay, for whoever erases them later. */
  suspend(principalId: string, now: number): Promise<boolean>;
  /**
   * Removes what is kept of a principal, and leaves its id with a login that nobody has; returns
   * how many of each kind.
   */
  erase(principalId: string): Promise<Readonly<Record<string, number>>>;
  /** Makes a principal active again; false if there is none. */
  reactivate(principalId: string): Promise<boolean>;
  addSession(session: Session): Promise<void>;
  /**
   * Removes sessions of a principal beyond `most`, with their refresh tokens: ended ones first,
   * then the oldest. Returns whether a live one was among them.
   */
  limitSessions(principalId: string, most: number): Promise<boolean>;
  /** Ends a session of the principal; false if it has no such live session. */
  endSession(principalId: string, sessionId: string, now: number): Promise<boolean>;
  /**
   * Ends the sessions of the principal, except the one with the id `kept`. The principal is locked
   * first.
   */
  endSessions(principalId: string, now: number, kept?: string): Promise<void>;
  /** Revokes the API keys of the principal. */
  endKeys(principalId: string, now: number): Promise<void>;
  /**
   * Whether the principal is active and has this live session. Both are locked, the principal
   * first, so that this stays true until the transaction ends.
   */
  holdSession(principalId: string, sessionId: string): Promise<boolean>;
  /** Live sessions of a principal, oldest first. */
  listSessions(principalId: string): Promise<readonly Session[]>;
  /**
   * What is checked on each request with a token of the session; null if there is no such session.
   */
  trust(sessionId: string): Promise<Trust | null>;
  /** The same of several sessions by their ids; those that do not exist are left out. */
  trusts(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Trust>>;
  /** Begins the next generation of a session; returns its number. */
  rotateSession(sessionId: string, now: number): Promise<number>;
  findRefreshToken(digest: string): Promise<RefreshToken | null>;
  /** Adds a token; does nothing if its digest is known. */
  addRefreshToken(token: RefreshToken): Promise<void>;
  /** Removes the used tokens of a session except the newest `most`. */
  limitRefreshTokens(sessionId: string, most: number): Promise<void>;
  /** Marks a token as used if it isn't yet; returns whether it did. Atomic. */
  useRefreshToken(digest: string, now: number): Promise<boolean>;
  /** Makes this the principal's reset token, in place of an earlier one. */
  putResetToken(token: ResetToken): Promise<void>;
  /** The login that the token with one of the digests is for; null if none of them is valid. */
  findResetLogin(digests: readonly string[], now: number): Promise<string | null>;
  /**
   * Uses up the token with one of the digests; returns its principal's id, or null if none of them
   * is valid. Atomic.
   */
  takeResetToken(digests: readonly string[], now: number): Promise<string | null>;
  dropResetToken(principalId: string): Promise<void>;
  /** Makes this the registration of its login, in place of an earlier one. */
  putSignUp(signUp: SignUpPending & PendingToken): Promise<void>;
  /** Gives the registration of a login another token; false if there is none, or it has expired. */
  renewSignUp(login: string, token: PendingToken, now: number): Promise<boolean>;
  /** Whether there is a registration with one of the digests that hasn't expired. */
  hasSignUp(digests: readonly string[], now: number): Promise<boolean>;
  /**
   * Removes the registration with one of the digests and returns it; null if none of them is valid.
   * Atomic.
   */
  takeSignUp(digests: readonly string[], now: number): Promise<SignUpPending | null>;
  /**
   * Removes up to `limit` rows of each kind that ended before `before`: refresh and reset tokens,
   * registrations, ended sessions, and sessions that have no refresh token left. Returns whether
   * there may be more.
   */
  prune(before: number, limit: number): Promise<boolean>;
}
