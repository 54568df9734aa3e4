// The authentication operations that generated routes name (service.md "Authentication routes",
// "Login and credential rules").
import { identityResources } from "./resources.js";
import { fail, refusedCredentials } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { anySessionOf, callerOf, sessionOf } from "../../operations/identity.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { RefreshToken, Session } from "../../ports/identity.js";
import { unscoped } from "../documents/access.js";
import { collection } from "../documents/collection.js";
import { canonicalLogin } from "./canonical-login.js";
import { hashPassword, isOutdated, rehashPassword, verifyPassword } from "./passwords.js";
import { newRefreshToken, refreshDigest, refreshDigests, successorOf } from "./refresh-token.js";
import { presentPermission } from "./former-permissions.js";
import { unchanged } from "./grants.js";
import type { IdentitySpec } from "./spec.js";
import { identityStore } from "../../ports/identity.js";

/** Sessions of a principal, beyond which the oldest ends. */
const maxSessions = 100;
/**
 * How many used refresh tokens of a session are remembered: if one of them comes again, the session
 * ends.
 */
const maxUsedTokens = 1_000;

/** The answer of login and refresh; lifetimes are seconds. */
export interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly access_token_type: "Bearer";
  readonly access_expires_in: number;
  readonly refresh_expires_in: number;
}

/**
 * Handlers of the authentication family. Those that hash open their write transaction themselves,
 * after hashing. Refreshing does so as well, because it must commit even if it refuses.
 */
export const authn = {
  /** Every failure is the same 401, after the same work. */
  passwordLogin:
    (spec: IdentitySpec): Handler<Credentials, TokenResponse> =>
    async (given, context) =>
      (await signIn(spec, context, given)).tokens,

  /**
   * Single use; a second use inside the grace gives the same successor, a later one ends the
   * session.
   */
  refreshTokens:
    (spec: IdentitySpec): Handler<{ readonly refresh_token: string }, TokenResponse> =>
    async ({ refresh_token: token }, context) => {
      const answer = await context.transact(() => refresh(spec, context, token));
      // A reuse has ended its session in the transaction above; only then it is refused.
      if (answer === null) throw refusedCredentials();
      return answer;
    },

  /**
   * Ends the calling session, or all of the caller's with `{"scope": "all"}`. An actor may only end
   * its own session; an API key has none.
   */
  logout:
    (): Handler<{ readonly scope?: "session" | "all" }, void> =>
    async ({ scope }, context) => {
      const { principalId, sessionId } =
        scope === "all" ? sessionOf(context) : anySessionOf(context);
      const store = context.transaction.of(identityStore);
      if (scope === "all") await store.endSessions(principalId, context.clock.now());
      else await store.endSession(principalId, sessionId, context.clock.now());
      context.endsCredentials({ principalId });
    },

  /**
   * Needs the current password; ends every session and API key of the caller, the calling one too.
   */
  changePassword:
    (): Handler<{ readonly current_password: string; readonly new_password: string }, void> =>
    async ({ current_password: current, new_password: next }, context) => {
      const caller = sessionOf(context);
      const principal = await context.transaction
        .of(identityStore)
        .findPrincipal(caller.principalId);
      const matches = await provesPassword(
        context,
        caller.principalId,
        principal?.passwordHash,
        current,
      );
      if (principal === null) throw refusedCredentials();
      // The caller is known: a 401 would have its client give up its session.
      if (!matches) throw fail("current_password_wrong");
      const { login } = principal;
      const hash = await hashPassword(context, { password: next, login, at: "/new_password" });
      await context.transact(async (transaction) => {
        const identity = transaction.of(identityStore);
        const isCurrent =
          (await identity.holdSession(principal.id, caller.sessionId)) &&
          (await identity.replacePassword(principal.id, principal.passwordHash, hash));
        if (!isCurrent) throw refusedCredentials();
        await identity.endSessions(caller.principalId, context.clock.now());
        await identity.endKeys(caller.principalId, context.clock.now());
        await identity.dropResetToken(caller.principalId);
        recordCall(context, {});
        context.endsCredentials({ principalId: caller.principalId });
      });
    },

  /** Who is calling, with whatever credential, and its profile where there are any. */
  me:
    ({
      signUp,
      former = unchanged,
    }: IdentitySpec): Handler<Readonly<Record<never, never>>, Caller> =>
    (_input, context) => {
      const { principalId, actorId, tenant, sessionId, scopes = null } = callerOf(context);
      const caller: Caller = {
        principal_id: principalId,
        actor_principal_id: actorId,
        tenant_id: tenant,
        session_id: sessionId,
        scopes: scopes && scopes.map((one) => presentPermission(former, one)),
      };
      const profile = signUp?.profile?.() ?? null;
      if (profile === null) return caller;
      // What else it may read is for its permissions to say.
      if (scopes !== null) return { ...caller, profile: null };
      // No scope hides from callers who they are.
      return collection(unscoped(profile), context)
        .first({ own: true })
        .then((own) => ({ ...caller, profile: own }));
    },

  /** The caller's live sessions, oldest first. */
  listSessions:
    (): Handler<Readonly<Record<never, never>>, { readonly sessions: readonly SessionEntry[] }> =>
    async (_input, context) => {
      const caller = sessionOf(context);
      const sessions = await context.transaction.of(identityStore).listSessions(caller.principalId);
      return { sessions: sessions.map((session) => entryOf(session, caller.sessionId)) };
    },

  /**
   * Ends one of the caller's sessions. Throws `core.not_found` for one that is ended, unknown or
   * somebody else's.
   */
  revokeSession:
    (): Handler<{ readonly id: string }, void> =>
    async ({ id }, context) => {
      const { principalId } = sessionOf(context);
      if (
        !(await context.transaction
          .of(identityStore)
          .endSession(principalId, id, context.clock.now()))
      )
        throw fail("core.not_found");
      context.endsCredentials({ principalId });
    },
};

/** What somebody signs in with. */
export interface Credentials {
  readonly login: string;
  readonly password: string;
}

/** Who has signed in, and the tokens of the session. */
export interface SignedIn {
  readonly principalId: string;
  readonly tokens: TokenResponse;
}

/**
 * Signs in with a password, under the throttle of logins. Throws the same `core.authentication` for
 * every failure.
 */
export async function signIn(
  spec: IdentitySpec,
  context: ExecutionContext,
  { login, password }: Credentials,
): Promise<SignedIn> {
  const name = canonicalLogin(login);
  const principal = await context.transaction.of(identityStore).findPrincipalByLogin(name);
  if (principal !== null) context.note({ principal_id: principal.id });
  const matches = await provesPassword(context, name, principal?.passwordHash, password);
  if (principal === null || !matches || !principal.isActive) throw refusedCredentials();
  const rehashed = (await isOutdated(principal.passwordHash))
    ? await rehashPassword(context, password)
    : undefined;
  return context.transact(async (transaction) => {
    const identity = transaction.of(identityStore);
    // The password may have been changed or reset since it was proven; then no session begins with
    // the old one.
    const { id: principalId, passwordHash } = principal;
    if (!(await identity.replacePassword(principalId, passwordHash, rehashed ?? passwordHash)))
      throw refusedCredentials();
    return {
      principalId,
      tokens: await issueSession(spec, context, { principalId, tenant: null }),
    };
  });
}

/**
 * Whether the password is right and the throttle has an attempt left; without one the same work
 * ends in false.
 */
async function provesPassword(
  context: ExecutionContext,
  name: string,
  hash: string | undefined,
  password: string,
): Promise<boolean> {
  const { loginAttempts } = context.resources.of(identityResources);
  const address = context.clientAddress();
  const left = await loginAttempts.take(address, name);
  // A throttled address reveals nothing about a login, so no hash is needed.
  if (left === "none for the address") return false;
  const matches = await verifyPassword(context, left === "some" ? hash : undefined, password);
  if (matches) await loginAttempts.giveBack(address, name);
  return matches;
}

/** The answer of `GET /auth/me`. */
export interface Caller {
  readonly principal_id: string;
  /** Who acts for the principal. */
  readonly actor_principal_id: string | null;
  readonly tenant_id: string | null;
  /** Null for an API key. */
  readonly session_id: string | null;
  /** The permissions that the credential is for; null for all of the principal's. */
  readonly scopes: readonly string[] | null;
  /** The caller's own document of those that are made with principals, or null. */
  readonly profile?: object | null;
}

export interface SessionEntry {
  readonly id: string;
  readonly created_at: string;
  readonly is_current: boolean;
}

function entryOf({ id, createdAt }: Session, current: string): SessionEntry {
  return { id, created_at: new Date(createdAt).toISOString(), is_current: id === current };
}

async function refresh(
  spec: IdentitySpec,
  context: ExecutionContext,
  token: string,
): Promise<TokenResponse | null> {
  const store = context.transaction.of(identityStore);
  const now = context.clock.now();
  const known = await findRefreshToken(context, token);
  if (known === null || known.expiresAt <= now) return null;
  const trust = await store.trust(known.sessionId);
  if (trust === null) return null;
  context.note({ principal_id: trust.principalId });
  if (!trust.isLive || !trust.isActive) return null;
  if (!trust.isMember || !trust.isTenantActive) return null;
  const successor = successorOf(context.resources.of(identityResources).refresh, token);
  const { principalId, actorId, tenant } = trust;
  const session = { id: known.sessionId, principalId, actorId, tenant };
  const isFirst = await store.useRefreshToken(known.digest, now);
  if (!isFirst && !(await isWithinGrace(spec, context, known.digest, successor))) {
    context.note({ reason: "a refresh token was used again: its session has ended" });
    await store.endSession(trust.principalId, known.sessionId, now);
    context.endsCredentials({ principalId: trust.principalId });
    return null;
  }
  await store.limitRefreshTokens(known.sessionId, maxUsedTokens);
  const generation = isFirst ? await store.rotateSession(known.sessionId, now) : trust.generation;
  return issue(spec, context, { ...session, generation }, successor);
}

/** The token as it is stored, under whichever pepper. */
async function findRefreshToken(
  { transaction, resources }: ExecutionContext,
  token: string,
): Promise<RefreshToken | null> {
  for (const digest of refreshDigests(resources.of(identityResources).refresh, token)) {
    const known = await transaction.of(identityStore).findRefreshToken(digest);
    if (known !== null) return known;
  }
  return null;
}

/** Whether a used token may be used once more: soon, and while nobody has used its successor. */
async function isWithinGrace(
  spec: IdentitySpec,
  context: ExecutionContext,
  digest: string,
  successor: string,
): Promise<boolean> {
  const store = context.transaction.of(identityStore);
  const usedAt = (await store.findRefreshToken(digest))?.usedAt ?? 0;
  const next = await store.findRefreshToken(
    refreshDigest(context.resources.of(identityResources).refresh, successor),
  );
  return (
    context.clock.now() - usedAt <= spec.refreshGraceSeconds * 1000 &&
    (next?.usedAt ?? null) === null
  );
}

/** Whose session begins: the tenant it is scoped to, and who acts in it for the principal. */
export interface NewSession {
  readonly principalId: string;
  readonly tenant: string | null;
  readonly actorId?: string;
}

/** Begins a session inside the running write transaction. */
export async function issueSession(
  spec: IdentitySpec,
  context: ExecutionContext,
  { principalId, tenant, actorId }: NewSession,
): Promise<TokenResponse> {
  const created = { principalId, tenant, actorId: actorId ?? null, createdAt: context.clock.now() };
  const session: Session = { id: uuidv7(), ...created };
  const identity = context.transaction.of(identityStore);
  await identity.addSession(session);
  if (await identity.limitSessions(principalId, maxSessions))
    context.endsCredentials({ principalId });
  return issue(spec, context, { ...session, generation: 0 }, newRefreshToken());
}

/** The session of a token pair, and which generation of it the pair is. */
interface IssuedFor extends Omit<Session, "createdAt"> {
  readonly generation: number;
}

async function issue(
  spec: IdentitySpec,
  context: ExecutionContext,
  { id: sid, principalId: sub, actorId, tenant, generation: gen }: IssuedFor,
  refreshToken: string,
): Promise<TokenResponse> {
  await context.transaction.of(identityStore).addRefreshToken({
    digest: refreshDigest(context.resources.of(identityResources).refresh, refreshToken),
    sessionId: sid,
    expiresAt: context.clock.now() + spec.refreshTtlSeconds * 1000,
    usedAt: null,
  });
  const subject = {
    sub,
    sid,
    gen,
    ...(tenant === null ? {} : { tid: tenant }),
    ...(actorId === null ? {} : { act: { sub: actorId } }),
  };
  return {
    access_token: await context.resources
      .of(identityResources)
      .tokens.issue(subject, spec.accessTtlSeconds),
    refresh_token: refreshToken,
    access_token_type: "Bearer",
    access_expires_in: spec.accessTtlSeconds,
    refresh_expires_in: spec.refreshTtlSeconds,
  };
}
