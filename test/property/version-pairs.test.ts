// Random pairs of registries, of which both versions run side by side on one database, and back: no answer, signal, delivery
// or replay is off the contract of its version, no 5xx, nothing lost; wherever that fails, the verdict of `diff` has said so.
// OPWRIGHT_TEST_SEED replays a pair; OPWRIGHT_TEST_PAIRS says how many there are (`npm run test:long`).
import { isDeepStrictEqual } from "node:util";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { base } from "./versions/base.js";
import { changed, changedKeys } from "./versions/catalogue.js";
import { FirstVersions, outcomeOf, reducedPair, type Outcome } from "./versions/pair.js";

const count = Number(process.env["OPWRIGHT_TEST_PAIRS"] ?? 10);
/** The same pairs each time, so that a change answers for what it breaks; `npm run test:long` draws others. */
const first = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const versions = new FirstVersions();
afterAll(() => versions.remove());

const told = ({ pair, registries, rollout, unsaid }: Outcome): string =>
  [
    `OPWRIGHT_TEST_SEED=${pair.seed} OPWRIGHT_TEST_PAIRS=1 replays it.`,
    ...unsaid.map(({ kind, text }) => `${kind}: ${text}`),
    `diff says "${rollout.verdict}": ${rollout.steps.join("; ")}`,
    `changes: ${[...pair.first, ...pair.second].map(({ kind }) => kind).join(", ")}`,
    ...registries.map((registry) => stringify(registry)),
  ].join("\n\n");

test("everything that goes wrong between two versions was predicted by `diff`", async () => {
  const done = new Map<string, number>();
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await outcomeOf(seed, versions);
    if (outcome.unsaid.length > 0) expect.fail(told(await reducedPair(outcome, versions)));
    for (const [what, times] of Object.entries(outcome.stats))
      done.set(what, (done.get(what) ?? 0) + times);
  }
  // Otherwise the test has nothing to say.
  const answers = "create 201,update 200,get 200,get 304,list 200,typed 200,revision 200,sell 200";
  for (const what of `${answers},upload 201,download 200,history 200`.split(","))
    expect([what, (done.get(what) ?? 0) >= count]).toEqual([what, true]);
}, 3_600_000);

test("pairs change every key of the format", () => {
  const never = changedKeys.filter((key) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const registry = changed(base, [{ kind: key.join("."), seed }]);
      if (registry !== undefined && !isDeepStrictEqual(registry, base)) return false;
    }
    return true;
  });
  expect(never.map((key) => key.join("."))).toEqual([]);
});
