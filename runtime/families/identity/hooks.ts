// Guards about who is calling (service.md "Authorization per operation").
import type { PhaseHook } from "../../operations/hooks.js";
import { anySessionOf, callerOf, sessionOf } from "../../operations/identity.js";

/** Step `authn.principal`: without a bound principal the answer is 401. */
export const principal: PhaseHook<"before", unknown, never> = {
  phase: "before",
  asks: "principal",
  run: (_input, context) => void callerOf(context),
};

/** As `principal`, whatever permissions the credential is for. */
export const anyCredential: PhaseHook<"before", unknown, never> = {
  phase: "before",
  asks: "any credential",
  run: (_input, context) => void callerOf(context),
};

/**
 * The caller has a session of its own, otherwise 403: API keys and actors can't manage credentials.
 */
export const session: PhaseHook<"before", unknown, never> = {
  phase: "before",
  asks: "session",
  run: (_input, context) => void sessionOf(context),
};

/**
 * The caller has a session, be it one in which somebody acts for it, otherwise 403: an API key has
 * none.
 */
export const anySession: PhaseHook<"before", unknown, never> = {
  phase: "before",
  asks: "any session",
  run: (_input, context) => void anySessionOf(context),
};
