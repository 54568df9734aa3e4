// Rate limits that still work while the shared counts are away: each process then counts for
// itself.
import type { Log } from "../ports/log.js";
import type { RateLimiter } from "../ports/rate-limiter.js";
import { monotonicMillis } from "../ports/ambient.js";

/**
 * Milliseconds between two requests that try the shared counts again; all others use the local
 * ones.
 */
const pauseMillis = 1_000;

/**
 * Uses the first limiter, and the other one while the first fails. Logs once when it fails, and
 * once when it is back.
 */
export function rateLimiterWithFallback(
  shared: RateLimiter,
  own: RateLimiter,
  log: Log,
): RateLimiter {
  let isAway = false;
  let triedAt = 0;
  const either = async <T>(call: (limiter: RateLimiter) => Promise<T>): Promise<T> => {
    if (isAway && monotonicMillis() < triedAt + pauseMillis) return call(own);
    triedAt = monotonicMillis();
    try {
      const value = await call(shared);
      if (isAway) log.info({}, "rate limits are counted by all processes together again");
      isAway = false;
      return value;
    } catch (error) {
      const what = "rate limits are counted by each process for itself: the shared counts are away";
      if (!isAway) log.warn({ err: error }, what);
      isAway = true;
      return call(own);
    }
  };
  return {
    take: (rule, key) => either((limiter) => limiter.take(rule, key)),
    giveBack: (rule, key) => either((limiter) => limiter.giveBack(rule, key)),
    forget: (rule, key) => either((limiter) => limiter.forget(rule, key)),
  };
}
