// Guards about who is calling (service.md "Authorization per operation").
import { fail } from "../contract/errors.js";
import type { PhaseHook } from "../operations/hooks.js";

/** Step `authn.principal`: without a bound principal the answer is 401. */
export const principal: PhaseHook<"before", unknown, never> = {
  phase: "before",
  run: (_input, context) => {
    if (context.identity === null) throw fail("core.authentication");
  },
};
