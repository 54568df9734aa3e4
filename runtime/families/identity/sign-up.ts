// Sign-up: at once, or once a mailed token has come back. Until then there is no principal, and
// nobody can find out which logins have one.
import { fail, refusedCredentials } from "../../contract/errors.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import { settingsOf } from "../../operations/family.js";
import type { Handler } from "../../operations/operation.js";
import { identityStore } from "../../ports/identity.js";
import { createDocument } from "../documents/write.js";
import { stage, stageIf } from "../outbox/stage.js";
import { canonicalLogin } from "./canonical-login.js";
import { identityFamily } from "./index.js";
import { issueSession, type TokenResponse } from "./operations.js";
import { mailedDigests, newMailedToken } from "./mailed-token.js";
import { hashPassword } from "./passwords.js";
import type { IdentitySpec, SignUpSpec } from "./spec.js";

type Body = Readonly<Record<string, unknown>>;

/** What somebody registers with; `profile` where the registry names a document for it. */
export interface SignUp {
  readonly login: string;
  readonly password: string;
  readonly profile?: object;
}

/**
 * The integration event from which a mail is made. For a login that has a principal it says only
 * that, and has no token.
 */
export interface SignUpRequested {
  readonly login: string;
  readonly kind: "verify" | "exists";
  readonly token: string | null;
  /** RFC 3339. */
  readonly expires_at: string | null;
}

const purpose = "sign-up-digest";
const eventName = "authn.sign_up_requested";

/**
 * Handlers of registrations. Those that hash open a write transaction of their own, so that hashing
 * holds none.
 */
export const signUp = {
  /**
   * Makes a principal with its profile, and signs it in. Throws `unique_violation` if the login
   * or a value of the profile is taken.
   */
  signUp:
    (spec: IdentitySpec): Handler<SignUp, TokenResponse> =>
    async ({ login: given, password, profile }, context) => {
      const login = canonicalLogin(given);
      await takeSignUpAttempt(context, login);
      const passwordHash = await hashPassword(context, { password, login, at: "/password" });
      return context.transact(async () => {
        const principalId = await makePrincipal(signUpOf(spec), context, {
          login,
          passwordHash,
          profile: { ...profile },
        });
        return issueSession(spec, context, { principalId, tenant: null });
      });
    },

  /**
   * Keeps a registration until its token comes back, and stages the event; an earlier one of the
   * login is superseded. A login that has a principal costs the same, and gives the same answer;
   * its token reaches nobody.
   */
  requestSignUp:
    (spec: IdentitySpec): Handler<SignUp, void> =>
    async ({ login: given, password, profile = {} }, context) => {
      const login = canonicalLogin(given);
      await takeSignUpAttempt(context, login);
      const passwordHash = await hashPassword(context, { password, login, at: "/password" });
      const isKnown = await hasPrincipal(context, login);
      const { token, digest, expiresAt } = newToken(signUpOf(spec), context);
      await context.transact(async (transaction) => {
        await rehearseProfile(signUpOf(spec), context, { ...profile });
        const pending = { login, passwordHash, profile: JSON.stringify(profile) };
        await transaction.of(identityStore).putSignUp({ ...pending, digest, expiresAt });
        await stage(context, eventName, eventOf(login, isKnown, token, expiresAt));
      });
    },

  /**
   * Mails a pending registration again, with a new token. For any other login the same statements
   * run.
   */
  resendSignUp:
    (spec: IdentitySpec): Handler<{ readonly login: string }, void> =>
    async ({ login: given }, context) => {
      const login = canonicalLogin(given);
      await takeSignUpAttempt(context, login);
      const isKnown = await hasPrincipal(context, login);
      const { token, digest, expiresAt } = newToken(signUpOf(spec), context);
      await context.transact(async (transaction) => {
        const identity = transaction.of(identityStore);
        const isPending = await identity.renewSignUp(
          login,
          { digest, expiresAt },
          context.clock.now(),
        );
        const event = eventOf(login, isKnown, token, expiresAt);
        await stageIf(isPending, context, eventName, event);
      });
    },

  /**
   * Makes the principal of a registration with its profile. Every bad token is the same 401; what
   * was taken meanwhile is `unique_violation`, and uses up nothing.
   */
  verifySignUp:
    (spec: IdentitySpec): Handler<{ readonly token: string }, void> =>
    async ({ token }, context) => {
      const digests = mailedDigests(context, purpose, token);
      const now = context.clock.now();
      // Checked first, so that an unknown token costs no write.
      if (!(await context.transaction.of(identityStore).hasSignUp(digests, now)))
        throw refusedCredentials();
      await context.transact(async (transaction) => {
        const pending = await transaction.of(identityStore).takeSignUp(digests, now);
        if (pending === null) throw refusedCredentials();
        const { login, passwordHash } = pending;
        const profile = JSON.parse(pending.profile) as Body;
        await makePrincipal(signUpOf(spec), context, { login, passwordHash, profile });
      });
    },
};

/** The declaration of sign-up: without it these operations don't exist. */
function signUpOf({ signUp: spec }: IdentitySpec): SignUpSpec {
  if (spec === null) throw new Error("identity.sign_up is not declared");
  return spec;
}

/** Counts an attempt for the address and for the login, known or not. Throws `core.throttled`. */
export async function takeSignUpAttempt(context: ExecutionContext, login: string): Promise<void> {
  const { limiter } = context.resources;
  const { signUpAttempts } = settingsOf(context.resources, identityFamily);
  const { perAddress, perLogin, windowSeconds } = signUpAttempts;
  // The address comes first: what it may try bounds how many logins are counted.
  const counted = [
    ["address", perAddress, context.clientAddress()],
    ["login", perLogin, login],
  ] as const;
  for (const [by, points, key] of counted) {
    const rule = { name: `sign-up by ${by}`, points, windowSeconds };
    const { isAllowed, retryAfterSeconds } = await limiter.take(rule, key);
    if (isAllowed) continue;
    throw fail("core.throttled", {}, { headers: { "Retry-After": String(retryAfterSeconds) } });
  }
}

async function hasPrincipal({ transaction }: ExecutionContext, login: string): Promise<boolean> {
  return (await transaction.of(identityStore).findPrincipalByLogin(login)) !== null;
}

interface NewToken {
  readonly token: string;
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

function newToken({ ttlSeconds }: SignUpSpec, context: ExecutionContext): NewToken {
  const expiresAt = context.clock.now() + ttlSeconds * 1000;
  return { ...newMailedToken(context, purpose), expiresAt };
}

function eventOf(
  login: string,
  isKnown: boolean,
  token: string,
  expiresAt: number,
): SignUpRequested {
  return isKnown
    ? { login, kind: "exists", token: null, expires_at: null }
    : { login, kind: "verify", token, expires_at: new Date(expiresAt).toISOString() };
}

interface NewPrincipal {
  readonly login: string;
  readonly passwordHash: string;
  readonly profile: Body;
}

/** Adds a principal with its profile inside the running write transaction, and returns its id. */
export async function makePrincipal(
  spec: Pick<SignUpSpec, "profile">,
  context: ExecutionContext,
  { login, passwordHash, profile }: NewPrincipal,
): Promise<string> {
  const id = uuidv7();
  const principal = { id, login, passwordHash, isActive: true };
  if (!(await context.transaction.of(identityStore).addPrincipal(principal)))
    throw fail("unique_violation", { members: ["login"] });
  context.note({ principal_id: id });
  await makeProfile(spec, context, id, profile);
  return id;
}

async function makeProfile(
  { profile }: Pick<SignUpSpec, "profile">,
  context: ExecutionContext,
  principalId: string,
  payload: Body,
): Promise<void> {
  if (profile === null) return;
  const document = profile();
  // The registry may have changed since the registration.
  const faults = document.validateCreate?.(payload) ?? null;
  if (faults !== null) throw fail("core.validation", { errors: faults });
  await createDocument(document, context.onBehalfOf(principalId), payload);
}

/** Creates a profile and undoes that: throws what creating it now would throw. */
async function rehearseProfile(
  spec: SignUpSpec,
  context: ExecutionContext,
  payload: Body,
): Promise<void> {
  const rehearsed = new Error("rehearsed");
  const rehearsal = context.transact(async () => {
    await makeProfile(spec, context, uuidv7(), payload);
    throw rehearsed;
  });
  await rehearsal.catch((error: unknown) => {
    if (error !== rehearsed) throw error;
  });
}
