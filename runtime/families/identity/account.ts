// What handlers of the author's own do with the account of who is calling: a token for an answer,
// another login, another password.
import { identityResources } from "./resources.js";
import { fail, refusedCredentials } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { sessionOf } from "../../operations/identity.js";
import { recordCall } from "../../operations/recorded.js";
import { identityStore } from "../../ports/identity.js";
import { canonicalLogin } from "./canonical-login.js";
import { hashPassword } from "./passwords.js";

/** The new values of an account; those that are left out stay. */
export interface AccountChange {
  readonly login?: string | undefined;
  readonly password?: string | undefined;
}

/** Functions for handlers; each throws `core.authorization` for an API key and for an actor. */
export const account = {
  /** An access token of the calling session, which ends when that of the call does. */
  async accessToken(context: ExecutionContext): Promise<string> {
    const { principalId: sub, sessionId: sid, tenant, expiresAt } = sessionOf(context);
    const trust = await context.transaction.of(identityStore).trust(sid);
    const seconds = Math.floor(((expiresAt ?? 0) - context.clock.now()) / 1000);
    if (trust === null || seconds <= 0) throw refusedCredentials();
    const subject = {
      sub,
      sid,
      gen: trust.generation,
      ...(tenant === null ? {} : { tid: tenant }),
    };
    return context.resources.of(identityResources).tokens.issue(subject, seconds);
  },

  /**
   * Changes the caller's account, and writes what `alongside` does in the same transaction. A new
   * password ends every other session and every API key. It is hashed before the transaction
   * begins, so the handler has `transaction: read`. Throws `unique_violation` if the login is
   * taken, and `core.validation` for a password that breaks a rule.
   */
  async change<T>(
    { login: given, password }: AccountChange,
    context: ExecutionContext,
    alongside: () => Promise<T>,
  ): Promise<T> {
    const { principalId, sessionId } = sessionOf(context);
    const principal = await context.transaction.of(identityStore).findPrincipal(principalId);
    if (principal === null) throw refusedCredentials();
    const login = given === undefined ? principal.login : canonicalLogin(given);
    if (login === "")
      throw fail("core.validation", {
        errors: [{ path: "/login", keyword: "minLength", message: "must not be blank" }],
      });
    const hash =
      password === undefined
        ? undefined
        : await hashPassword(context, { password, login, at: "/password" });
    return context.transact(async (transaction) => {
      const identity = transaction.of(identityStore);
      if (!(await identity.holdSession(principalId, sessionId))) throw refusedCredentials();
      if (login !== principal.login && !(await identity.setLogin(principalId, login)))
        throw fail("unique_violation", { members: ["login"] });
      // Whoever read the mails of the former login may have requested it.
      await identity.dropResetToken(principalId);
      recordCall(context, { is_login: login !== principal.login, is_password: hash !== undefined });
      if (hash !== undefined) {
        await identity.setPassword(principalId, hash);
        await identity.endSessions(principalId, context.clock.now(), sessionId);
        await identity.endKeys(principalId, context.clock.now());
        context.endsCredentials({ principalId });
      }
      return alongside();
    });
  },
};
