// Rate limits counted in this process, in bounded memory.
import {
  allowed,
  countedKey,
  refusedFor,
  type RateLimiter,
  type RateRule,
} from "../../ports/rate-limiter.js";
import { monotonicMillis } from "../../ports/ambient.js";

/** Keys counted per rule, about 10 MB. Beyond that, the oldest window is forgotten. */
const maxKeys = 50_000;

interface Window {
  taken: number;
  /** Milliseconds on the clock of `now`. */
  readonly endsAt: number;
}

/**
 * A limiter whose counts are lost with the process and not shared with others. `now` returns
 * milliseconds; the default is the monotonic clock, which nobody can set back.
 */
export function memoryRateLimiter(now: () => number = monotonicMillis): RateLimiter {
  /** By the rule's name, then by key, in the order in which the windows end. */
  const windows = new Map<string, Map<string, Window>>();
  const live = ({ name }: RateRule, key: string): Window | undefined => {
    const window = windows.get(name)?.get(key);
    return window === undefined || window.endsAt <= now() ? undefined : window;
  };
  const begin = ({ name, windowSeconds }: RateRule, key: string): void => {
    const ofRule = windows.get(name) ?? new Map<string, Window>();
    windows.set(name, ofRule);
    const at = now();
    ofRule.delete(key);
    for (const [oldest, { endsAt }] of ofRule) {
      if (endsAt > at && ofRule.size < maxKeys) break;
      ofRule.delete(oldest);
    }
    ofRule.set(key, { taken: 1, endsAt: at + windowSeconds * 1000 });
  };
  return {
    async take(rule, key) {
      const counted = countedKey(key);
      const window = live(rule, counted);
      if (window === undefined) begin(rule, counted);
      else if (window.taken >= rule.points) return refusedFor(window.endsAt - now());
      else window.taken += 1;
      return allowed;
    },
    async giveBack(rule, key) {
      const window = live(rule, countedKey(key));
      if (window !== undefined && window.taken > 0) window.taken -= 1;
    },
    async forget({ name }, key) {
      windows.get(name)?.delete(countedKey(key));
    },
  };
}
