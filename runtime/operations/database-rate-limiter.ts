// Rate limits counted in the database, by all processes together.
import type { Database, Transaction } from "../ports/database.js";
import { Lifetime } from "../ports/lifetime.js";
import type { PeriodicJob } from "../work/periodic.js";
import {
  allowed,
  countedKey,
  refusedFor,
  type RateLimiter,
  type RateRule,
  type Taken,
} from "../ports/rate-limiter.js";
import type { Payer } from "../ports/work.js";
import { monotonicMillis } from "../ports/ambient.js";

/** Milliseconds that a count may take. */
const patienceMillis = 5_000;
/** Counts that one batch removes. */
const pruned = 1_000;
/**
 * Counting is callers' work, so it never uses the connections that are reserved for the service
 * itself.
 */
const payer: Payer = { key: "rate limits", isAnonymous: false };

/**
 * A limiter whose counts every process sees. Each count is a short write of its own, so it stays
 * even if the caller's work is rolled back. Never call it inside a write transaction, which would
 * hold a connection while it waits for another one. A key has one count under way at a time, and
 * its refusal refuses all who wait behind it: so whoever floods a key holds one connection.
 */
export function databaseRateLimiter(database: Database): RateLimiter {
  const write = <T>(work: (stores: Transaction) => Promise<T>): Promise<T> =>
    database.write({ lifetime: Lifetime.within(patienceMillis), payer }, work);
  /** The last count of each key that is under way. */
  const counting = new Map<string, Promise<unknown>>();
  /**
   * The last refusal of each key that somebody waits for, and when it came, on the monotonic clock.
   */
  const refused = new Map<string, { readonly at: number; readonly taken: Taken }>();

  /**
   * Queues work behind the count of this key that is under way; `id` distinguishes the counts of
   * all rules.
   */
  const inTurn = async <T>(
    name: string,
    given: string,
    work: (key: string, id: string) => Promise<T>,
  ): Promise<T> => {
    const key = countedKey(given);
    const id = `${name}\0${key}`;
    const before = counting.get(id);
    const own = (async () => {
      await before?.catch(() => undefined);
      return work(key, id);
    })();
    counting.set(id, own);
    try {
      return await own;
    } finally {
      if (counting.get(id) === own) {
        counting.delete(id);
        refused.delete(id);
      }
    }
  };
  const change = (
    name: string,
    given: string,
    work: (stores: Transaction, key: string) => Promise<void>,
  ): Promise<void> =>
    inTurn(name, given, async (key, id) => {
      await write((stores) => work(stores, key));
      refused.delete(id);
    });
  return {
    take({ name, points, windowSeconds }: RateRule, given) {
      const since = monotonicMillis();
      return inTurn(name, given, async (key, id) => {
        const known = refused.get(id);
        if (known !== undefined && known.at >= since) return known.taken;
        const left = await write(({ rates }) =>
          rates.take(name, key, points, windowSeconds * 1000),
        );
        if (left === null) return allowed;
        const taken = refusedFor(left);
        refused.set(id, { at: monotonicMillis(), taken });
        return taken;
      });
    },
    giveBack: ({ name }, given) =>
      change(name, given, ({ rates }, key) => rates.giveBack(name, key)),
    forget: ({ name }, given) => change(name, given, ({ rates }, key) => rates.forget(name, key)),
  };
}

/** Removes counts whose window is over, every minute. */
export const expiredRates: PeriodicJob = {
  name: "rates",
  everyMillis: 60_000,
  batch: async ({ rates }) => (await rates.prune(pruned)) === pruned,
};
