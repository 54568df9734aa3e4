// A hook that limits how often one caller may run an operation (service.md "Further rules").
import { fail } from "../contract/errors.js";
import type { PhaseHook } from "../operations/hooks.js";

/**
 * At most `points` per window of `windowSeconds` for each caller: the principal, or the address if
 * there is none. Beyond that 429 `core.throttled` with `Retry-After`.
 */
export function rateLimit(
  points: number,
  windowSeconds: number,
): PhaseHook<"before", unknown, never> {
  return {
    phase: "before",
    run: async (_input, context) => {
      const { identity, resources, operationId } = context;
      const rule = { name: `${operationId} ${points}/${windowSeconds}`, points, windowSeconds };
      const caller = identity?.principalId ?? context.clientAddress();
      const { isAllowed, retryAfterSeconds } = await resources.limiter.take(rule, caller);
      if (isAllowed) return;
      throw fail("core.throttled", {}, { headers: { "Retry-After": String(retryAfterSeconds) } });
    },
  };
}
