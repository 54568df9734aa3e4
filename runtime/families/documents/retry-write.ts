// Writes that another one may be faster than.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { drawFraction, sleep } from "../../ports/ambient.js";

/** How often a lost compare-and-set is tried again, with 5 to 50 ms in between. */
const maxAttempts = 8;

/**
 * Runs `attempt` until it gives a value; null is a lost compare-and-set. Gives up with
 * `core.concurrency`.
 */
export async function retryWrite<T>(
  context: ExecutionContext,
  attempt: () => Promise<T | null>,
): Promise<T> {
  for (let tries = 0; tries < maxAttempts; tries += 1) {
    if (tries > 0) {
      context.lifetime.throwIfOver();
      await sleep(5 + drawFraction() * 45);
    }
    const result = await attempt();
    if (result !== null) return result;
  }
  throw fail("core.concurrency");
}
