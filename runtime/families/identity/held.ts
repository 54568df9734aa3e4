// What authors call of identities: calls that they have to await.
import { callWithTurns } from "../../operations/held-calls.js";
import * as accounts from "./account.js";
import * as erasing from "./erase.js";
import * as operations from "./operations.js";
import * as provision from "./provision.js";

/**
 * Adds an active principal with a login and returns its id. Throws `core.conflict` if the login
 * is taken.
 */
export const createPrincipal: typeof provision.createPrincipal = (context, given) =>
  callWithTurns(context, "createPrincipal", () => provision.createPrincipal(context, given));

/**
 * Erases a principal, as `POST /auth/erase` does, in transactions of its own: for operations with
 * `transaction: read`. Whoever is interrupted calls it again. Throws `core.not_found`.
 */
export const erasePrincipal: typeof erasing.erasePrincipal = (spec, context, principalId) =>
  callWithTurns(context, "erasePrincipal", () =>
    erasing.erasePrincipal(spec, context, principalId),
  );

/** Begins a session inside the running write transaction. */
export const issueSession: typeof operations.issueSession = (spec, context, given) =>
  callWithTurns(context, "issueSession", () => operations.issueSession(spec, context, given));

/**
 * Signs in with a password, under the throttle of logins. Throws the same `core.authentication` for
 * every failure.
 */
export const signIn: typeof operations.signIn = (spec, context, given) =>
  callWithTurns(context, "signIn", () => operations.signIn(spec, context, given));

/**
 * The caller's own account: `account.accessToken(context)`, and `account.change(given, context,
 * alongside)` for another login or password. Each throws `core.authorization` for an API key and
 * for an actor.
 */
export const account: typeof accounts.account = {
  accessToken: (context) =>
    callWithTurns(context, "account.accessToken", () => accounts.account.accessToken(context)),
  change: (given, context, alongside) =>
    callWithTurns(context, "account.change", () =>
      accounts.account.change(given, context, alongside),
    ),
};
