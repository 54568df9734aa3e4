// The port of rate limits: so many uses in a window of time, counted by key (service.md "Further
// rules").
import { createHash } from "node:crypto";

/** How many uses fit into a window, which begins with the first of them. */
export interface RateRule {
  /** Rules with one name share their counts. */
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
}

/** Whether a use was left; if not, in how many seconds there will be one, at least 1. */
export interface Taken {
  readonly isAllowed: boolean;
  readonly retryAfterSeconds: number;
}

/**
 * Counts the uses of all who share the limiter. Rejects with `core.unavailable` if its engine
 * fails.
 */
export interface RateLimiter {
  /**
   * Takes one use of the key. Atomic: concurrent calls never get more than are left. A refusal
   * takes nothing.
   */
  take(rule: RateRule, key: string): Promise<Taken>;
  /** Gives one use back; does nothing once its window is over. */
  giveBack(rule: RateRule, key: string): Promise<void>;
  /** Forgets all uses of the key. */
  forget(rule: RateRule, key: string): Promise<void>;
}

/**
 * The hash by which engines count a key: always of one length, and without addresses or logins in
 * the clear.
 */
export function countedKey(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** The result if a use was left. */
export const allowed: Taken = { isAllowed: true, retryAfterSeconds: 0 };

/** The result if none is left for so many milliseconds. */
export function refusedFor(millis: number): Taken {
  return { isAllowed: false, retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)) };
}
