// Rate limits counted in this process.
import { createHash } from "node:crypto";
import type { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimiter, RateRule } from "../../operations/rate-limiter.js";

/** A limiter whose counts end with the process and are not shared between processes. */
export function memoryRateLimiter(): RateLimiter {
  const limiters = new Map<string, RateLimiterMemory>();
  const of = async ({ name, points, windowSeconds }: RateRule): Promise<RateLimiterMemory> => {
    // Loaded by the first that counts: it takes a tenth of the start otherwise.
    const library = await import("rate-limiter-flexible");
    const known =
      limiters.get(name) ?? new library.RateLimiterMemory({ points, duration: windowSeconds });
    limiters.set(name, known);
    return known;
  };
  return {
    async take(rule, key) {
      try {
        await (await of(rule)).consume(hashed(key));
        return { isAllowed: true, retryAfterSeconds: 0 };
      } catch (reason) {
        // The library rejects with its state where nothing is left, and with an error where it failed.
        if (reason instanceof Error) throw reason;
        const { msBeforeNext } = reason as RateLimiterRes;
        return { isAllowed: false, retryAfterSeconds: Math.ceil(msBeforeNext / 1000) };
      }
    },
    async giveBack(rule, key) {
      await (await of(rule)).reward(hashed(key));
    },
    async forget(rule, key) {
      await (await of(rule)).delete(hashed(key));
    },
  };
}

/** One length for keys of any length. */
function hashed(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
