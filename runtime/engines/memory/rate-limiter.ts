// Rate limits counted in this process, in bounded memory.
import {
  allowed,
  countedKey,
  refusedFor,
  type RateLimiter,
  type RateRule,
} from "../../ports/rate-limiter.js";

/** Keys that are counted per rule, about 10 MB of them; beyond that the window that began first is forgotten. */
const maxKeys = 50_000;

interface Window {
  taken: number;
  /** By `now`: usually the process's own clock, which nobody sets. */
  readonly endsAt: number;
}

/** A limiter whose counts end with the process and are not shared between processes. `now` is in milliseconds. */
export function memoryRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  /** By the names of rules; each in the order in which its windows end. */
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
