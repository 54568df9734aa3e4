// The port of rate limits: so many in a window, counted by key (service.md "Further rules").
import { createHash } from "node:crypto";

/** How many fit into a window, which begins with the first that is taken. */
export interface RateRule {
  /** Rules with one name share their counts. */
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
}

/** Whether one was left; where none was, in how many seconds there is, at least 1. */
export interface Taken {
  readonly isAllowed: boolean;
  readonly retryAfterSeconds: number;
}

/** Counts of all who share the limiter. Faults of the engine reject with `core.unavailable`. */
export interface RateLimiter {
  /** Takes one for the key. Atomic: of those who ask at once no more than are left get one. A refusal takes nothing. */
  take(rule: RateRule, key: string): Promise<Taken>;
  /** Gives one back; nothing once its window is over. */
  giveBack(rule: RateRule, key: string): Promise<void>;
  /** Forgets what was taken for the key. */
  forget(rule: RateRule, key: string): Promise<void>;
}

/** What engines count by: one length for keys of any length, and no address or login in the clear. */
export function countedKey(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** One was left. */
export const allowed: Taken = { isAllowed: true, retryAfterSeconds: 0 };

/** None is left for so many milliseconds. */
export function refusedFor(millis: number): Taken {
  return { isAllowed: false, retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)) };
}
