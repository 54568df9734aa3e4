// The port of identities: principals, sessions and refresh tokens (decisions.md "Authentication, API keys, tenancy").

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
  readonly tenant: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** What the boundary asks on every request with a token, in one query. */
export interface Trust {
  readonly principalId: string;
  readonly tenant: string | null;
  readonly isSessionLive: boolean;
  readonly isPrincipalActive: boolean;
  /** Both true where the session has no tenant. */
  readonly isTenantActive: boolean;
  readonly isMember: boolean;
}

/** One refresh token by its digest. Times are epoch milliseconds. */
export interface RefreshToken {
  readonly digest: string;
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}

/** Identities within one transaction. */
export interface IdentityStore {
  findPrincipalByLogin(login: string): Promise<Principal | null>;
  findPrincipal(id: string): Promise<Principal | null>;
  /** Adds a principal; false where the login is taken. */
  addPrincipal(principal: Principal): Promise<boolean>;
  setPassword(principalId: string, passwordHash: string): Promise<void>;
  /** Deactivates a principal and ends its sessions; false where there is none. */
  deactivate(principalId: string, now: number): Promise<boolean>;
  addSession(session: Session): Promise<void>;
  /** Ends a session of the principal; false where it has no such live session. */
  endSession(principalId: string, sessionId: string, now: number): Promise<boolean>;
  endSessions(principalId: string, now: number): Promise<void>;
  /** Live sessions of a principal, oldest first. */
  listSessions(principalId: string): Promise<readonly Session[]>;
  trust(sessionId: string): Promise<Trust | null>;
  findRefreshToken(digest: string): Promise<RefreshToken | null>;
  /** Adds a token; a digest that is known already is left as it is. */
  addRefreshToken(token: RefreshToken): Promise<void>;
  /** Marks a token as used where it is not yet; says whether it did. Atomic. */
  useRefreshToken(digest: string, now: number): Promise<boolean>;
}
