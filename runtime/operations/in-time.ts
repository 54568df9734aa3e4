// Work whose outcome changes nothing any more: the answer waits for it, but not for ever.
import { within } from "../work/within.js";

/** The decision, and how long it still waits. */
export interface Deciding {
  readonly lifetime: { readonly settlingMillis: number };
}

/**
 * Runs `work`. Rejects if it takes longer than what is left of the deadline and the grace behind
 * it; then it goes on alone.
 */
export async function inTime(
  { lifetime }: Deciding,
  what: string,
  work: () => void | Promise<void>,
): Promise<void> {
  const working = work();
  // Most of it is done at once, and needs no timer.
  if (!(working instanceof Promise)) return working;
  const millis = lifetime.settlingMillis;
  await within(millis, working, () => {
    const seconds = (millis / 1000).toFixed(1);
    return new Error(`${what} has not settled after ${seconds} s: the answer waits no longer`);
  });
}
