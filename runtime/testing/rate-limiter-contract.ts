// The contract of the rate-limiter port: what every engine that counts must pass (architecture.md,
// idea 3).
import assert from "node:assert/strict";
import type { MigrationTarget } from "../engines/sql/migrations.js";
import type { RateLimiter, RateRule } from "../ports/rate-limiter.js";
import { uuidv7 } from "../ports/uuid.js";
import type { TestApi } from "./test-api.js";
import { epochMillis, sleep } from "../ports/ambient.js";

export interface RateLimiterHarness {
  /**
   * Opens a limiter. If the engine counts for all processes, the limiters of one harness share
   * their counts.
   */
  open(): Promise<{ readonly limiter: RateLimiter; close(): Promise<void> }>;
  /** Whether two limiters share their counts, as those of two processes do. */
  readonly isShared: boolean;
}

/** Creates the table in which limiters over a SQL database count. */
export async function prepareRateTables(target: MigrationTarget): Promise<void> {
  await target.migrate(({ transaction }) =>
    transaction(async ({ exec }) => {
      await exec(`
      CREATE TABLE IF NOT EXISTS "opwright_rates" (
        "name" TEXT NOT NULL, "key" TEXT NOT NULL, "taken" INTEGER NOT NULL, "ends_at" BIGINT NOT NULL,
        PRIMARY KEY ("name", "key"));`);
    }),
  );
}

/** Declares the suite with the functions of a test runner. */
export function rateLimiterContract(
  { describe, test }: TestApi,
  harness: RateLimiterHarness,
): void {
  /** Each case has its own rule, so that cases don't affect each other. */
  const withLimiter = async (
    given: Pick<RateRule, "points" | "windowSeconds">,
    body: (limiter: RateLimiter, rule: RateRule) => Promise<void>,
  ): Promise<void> => {
    const { limiter, close } = await harness.open();
    try {
      await body(limiter, { name: uuidv7(), ...given });
    } finally {
      await close();
    }
  };
  /** How many of `count` concurrent takes are allowed. */
  const allowedOf = async (limiter: RateLimiter, rule: RateRule, key: string, count: number) => {
    const taken = await Promise.all(Array.from({ length: count }, () => limiter.take(rule, key)));
    return taken.filter(({ isAllowed }) => isAllowed).length;
  };

  describe("rate limiter", () => {
    test("as many as the rule says fit into a window, and the refusal says how long it lasts", () =>
      withLimiter({ points: 3, windowSeconds: 60 }, async (limiter, rule) => {
        for (let count = 0; count < 3; count += 1)
          assert.equal((await limiter.take(rule, "a")).isAllowed, true);
        const { isAllowed, retryAfterSeconds } = await limiter.take(rule, "a");
        assert.equal(isAllowed, false);
        assert.ok(retryAfterSeconds > 30 && retryAfterSeconds <= 60, String(retryAfterSeconds));
      }));

    test("of those who ask at once no more than are left get one", () =>
      withLimiter({ points: 10, windowSeconds: 60 }, async (limiter, rule) => {
        assert.equal(await allowedOf(limiter, rule, "a", 40), 10);
      }));

    test("keys and rules have counts of their own", () =>
      withLimiter({ points: 1, windowSeconds: 60 }, async (limiter, rule) => {
        for (const key of ["a", "b", "", "a\0b", "ü😀", "x".repeat(10_000)])
          assert.equal(await allowedOf(limiter, rule, key, 2), 1, key.slice(0, 10));
        const other = { ...rule, name: `${rule.name} other` };
        assert.equal(await allowedOf(limiter, other, "a", 2), 1);
      }));

    test("what is given back can be taken once more, and refusals take nothing", () =>
      withLimiter({ points: 2, windowSeconds: 60 }, async (limiter, rule) => {
        assert.equal(await allowedOf(limiter, rule, "a", 6), 2);
        await limiter.giveBack(rule, "a");
        assert.equal(await allowedOf(limiter, rule, "a", 6), 1);
        await limiter.giveBack(rule, "nobody");
        assert.equal(await allowedOf(limiter, rule, "nobody", 6), 2);
      }));

    test("more is never given back than was taken", () =>
      withLimiter({ points: 2, windowSeconds: 60 }, async (limiter, rule) => {
        await limiter.take(rule, "a");
        for (let count = 0; count < 5; count += 1) await limiter.giveBack(rule, "a");
        assert.equal(await allowedOf(limiter, rule, "a", 6), 2);
      }));

    test("what is forgotten begins anew", () =>
      withLimiter({ points: 2, windowSeconds: 60 }, async (limiter, rule) => {
        await allowedOf(limiter, rule, "a", 6);
        await limiter.forget(rule, "a");
        assert.equal(await allowedOf(limiter, rule, "a", 6), 2);
      }));

    test("a window ends, whatever was refused in it", () =>
      withLimiter({ points: 1, windowSeconds: 1 }, async (limiter, rule) => {
        await limiter.take(rule, "a");
        const until = epochMillis() + 20_000;
        let refused = 0;
        while (!(await limiter.take(rule, "a")).isAllowed) {
          refused += 1;
          assert.ok(epochMillis() < until, "the window does not end");
          await sleep(50);
        }
        assert.ok(refused > 0);
      }));

    if (!harness.isShared) return;
    test("two processes count together", () =>
      withLimiter({ points: 10, windowSeconds: 60 }, (one, rule) =>
        withLimiter({ points: 10, windowSeconds: 60 }, async (two) => {
          const [first, second] = await Promise.all([
            allowedOf(one, rule, "a", 20),
            allowedOf(two, rule, "a", 20),
          ]);
          assert.equal(first + second, 10);
          await one.giveBack(rule, "a");
          assert.equal(await allowedOf(two, rule, "a", 3), 1);
          await two.forget(rule, "a");
          assert.equal(await allowedOf(one, rule, "a", 20), 10);
        }),
      ));
  });
}
