// Nothing durable is lost: every device of a principal hears every signal that was committed for it, in one order
// (decisions.md §2). 60 seeded schedules, as many as find each mutation of no-loss-mutations.test.ts.
// OPWRIGHT_SEED=N runs one, OPWRIGHT_SEEDS=N so many from OPWRIGHT_TEST_SEED on (`npm run test:long`).
import { describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startWorld } from "../../support/no-loss.js";

const postgres = engines.find(({ name }) => name === "postgres");
const isAvailable =
  postgres?.isAvailable === true && process.env["OPWRIGHT_TEST_REDIS"] !== undefined;
const one = process.env["OPWRIGHT_SEED"];
const count = Number(process.env["OPWRIGHT_SEEDS"] ?? 30);
const first = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const seeds =
  one === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(one)];

/** Worlds side by side, so that waiting is not idle. */
const worlds = [0, 1].map((world) => seeds.filter((_, index) => index % 2 === world));

describe.skipIf(!isAvailable)("two processes on PostgreSQL and Redis", () => {
  test.concurrent.each(
    worlds.filter(({ length }) => length > 0).map((some) => [some.length, some]),
  )(
    "%i schedules lose nothing",
    async (_count, some) => {
      const world = await startWorld();
      try {
        for (const seed of some) await world.run(seed);
        // What they were tried under has really happened.
        if (some.length >= 30)
          expect(Math.min(world.done.cuts, world.done.kills)).toBeGreaterThan(1);
      } finally {
        await world.stop();
      }
    },
    600_000,
  );
});
