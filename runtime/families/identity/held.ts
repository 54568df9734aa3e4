// What authors call of identities: calls that they have to await.
import { callWithTurns } from "../../operations/held-calls.js";
import * as accounts from "./account.js";
import * as operations from "./operations.js";
import * as provision from "./provision.js";

/** See `createPrincipal` of `provision.ts`. */
export const createPrincipal: typeof provision.createPrincipal = (context, given) =>
  callWithTurns(context, "createPrincipal", () => provision.createPrincipal(context, given));

/** See `issueSession` of `operations.ts`. */
export const issueSession: typeof operations.issueSession = (spec, context, given) =>
  callWithTurns(context, "issueSession", () => operations.issueSession(spec, context, given));

/** See `signIn` of `operations.ts`. */
export const signIn: typeof operations.signIn = (spec, context, given) =>
  callWithTurns(context, "signIn", () => operations.signIn(spec, context, given));

/** See `account` of `account.ts`. */
export const account: typeof accounts.account = {
  accessToken: (context) =>
    callWithTurns(context, "account.accessToken", () => accounts.account.accessToken(context)),
  change: (given, context, alongside) =>
    callWithTurns(context, "account.change", () =>
      accounts.account.change(given, context, alongside),
    ),
};
