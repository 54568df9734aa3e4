// Nothing durable is lost: every device of a principal hears every signal that was committed for it, in one order
// (decisions.md §2). 200 seeded schedules; OPWRIGHT_SEED=N runs one, OPWRIGHT_SEEDS=N so many.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../engines.js";
import { startWorld, type World } from "./no-loss.js";

const postgres = engines.find(({ name }) => name === "postgres");
const isAvailable =
  postgres?.isAvailable === true && process.env["OPWRIGHT_TEST_REDIS"] !== undefined;
const one = process.env["OPWRIGHT_SEED"];
const count = Number(process.env["OPWRIGHT_SEEDS"] ?? 200);
const seeds = one === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(one)];

describe.skipIf(!isAvailable)("two processes on PostgreSQL and Redis", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  test(`${seeds.length} schedules lose nothing`, async () => {
    for (const seed of seeds) await world.run(seed);
    expect(seeds.length).toBeGreaterThan(0);
  }, 600_000);
});
