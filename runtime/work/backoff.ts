// Waits that grow with each attempt, so that who is away is not asked ever more often.
import { drawFraction } from "../ports/ambient.js";

/** The wait before the next attempt: it doubles with each, and is random within its bounds. */
export interface Backoff {
  /** The upper bound of the first wait, in milliseconds. */
  readonly firstMillis: number;
  /** The upper bound of all waits, in milliseconds. */
  readonly longestMillis: number;
  /** The lower bound, as a share of the upper one. */
  readonly leastShare: number;
}

/** The wait after attempt 1, 2, …, in whole milliseconds. */
export function waitMillis(
  { firstMillis, longestMillis, leastShare }: Backoff,
  attempt: number,
): number {
  const longest = Math.min(longestMillis, firstMillis * 2 ** (attempt - 1));
  return Math.round(longest * (leastShare + (1 - leastShare) * drawFraction()));
}
