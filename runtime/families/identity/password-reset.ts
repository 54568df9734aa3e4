// Password resets: one outstanding token a principal, which reaches its owner out of band
// (service.md "Password reset token").
import { identityResources } from "./resources.js";
import { refusedCredentials } from "../../contract/errors.js";
import type { Handler } from "../../operations/operation.js";
import { recordCall } from "../../operations/recorded.js";
import { uuidv7 } from "../../ports/uuid.js";
import { stageIf } from "../outbox/stage.js";
import { canonicalLogin } from "./canonical-login.js";
import { mailedDigests, newMailedToken } from "./mailed-token.js";
import { hashPassword } from "./passwords.js";
import type { IdentitySpec } from "./spec.js";
import { identityStore } from "../../ports/identity.js";

/**
 * The integration event of a request (service.md "Integration events (outbox)"). It carries the
 * token itself.
 */
export interface PasswordResetRequested {
  readonly login: string;
  readonly principal_id: string;
  readonly token: string;
  /** RFC 3339. */
  readonly expires_at: string;
}

const purpose = "reset-digest";
const eventName = "authn.password_reset_requested";

/** Handlers of password resets. */
export const passwordReset = {
  /**
   * Makes a token for the login and stages the event; the earlier token is superseded. For an
   * unknown login, and where requests have run out, the same is written and taken back: nothing is
   * staged, and the same statements run. Opens its write transaction after the attempt is counted,
   * which is a write of its own.
   */
  requestPasswordReset:
    (spec: IdentitySpec): Handler<{ readonly login: string }, void> =>
    async ({ login }, context) => {
      const name = canonicalLogin(login);
      const left = await context.resources
        .of(identityResources)
        .resetAttempts.take(context.clientAddress(), name);
      const principal = await context.transaction.of(identityStore).findPrincipalByLogin(name);
      const isKnown = left === "some" && principal?.isActive === true;
      // Stands in for an unknown principal, so that the same work is done.
      const principalId = isKnown ? principal.id : uuidv7();
      if (isKnown) context.note({ principal_id: principalId });
      const { token, digest } = newMailedToken(context, purpose);
      const expiresAt = context.clock.now() + spec.resetTtlSeconds * 1000;
      const event: PasswordResetRequested = {
        login: name,
        principal_id: principalId,
        token,
        expires_at: new Date(expiresAt).toISOString(),
      };
      await context.transact(async (transaction) => {
        const identity = transaction.of(identityStore);
        await identity.putResetToken({ principalId, digest, expiresAt });
        await stageIf(isKnown, context, eventName, event);
        // A token that stays costs the same statement: nobody has the other id.
        await identity.dropResetToken(isKnown ? uuidv7() : principalId);
      });
    },

  /**
   * Sets a new password and ends every session and API key. Every bad token is the same 401; a
   * password that is none uses up nothing.
   */
  resetPassword:
    (): Handler<{ readonly token: string; readonly new_password: string }, void> =>
    async ({ token, new_password: password }, context) => {
      const digests = mailedDigests(context, purpose, token);
      const now = context.clock.now();
      // Checked first, so that an unknown token costs no hashing.
      const login = await context.transaction.of(identityStore).findResetLogin(digests, now);
      if (login === null) throw refusedCredentials();
      const hash = await hashPassword(context, { password, login, at: "/new_password" });
      await context.transact(async (transaction) => {
        const identity = transaction.of(identityStore);
        const principalId = await identity.takeResetToken(digests, now);
        if (principalId === null) throw refusedCredentials();
        context.note({ principal_id: principalId });
        await identity.setPassword(principalId, hash);
        await identity.endSessions(principalId, now);
        await identity.endKeys(principalId, now);
        recordCall(context, { principal_id: principalId });
        context.endsCredentials({ principalId });
      });
    },
};
