// Everything that is accepted compiles and loads: random registries, many in one program. A failing seed is replayed by
// OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_REGISTRIES says how many there are (`npm run test:long`).
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { registryShape } from "../../generator/load/format.js";
import { isMap, type Shape } from "../../generator/load/shape.js";
import { drawn } from "./registries/draw.js";
import { isFault, outcomesOf } from "./registries/program.js";
import { randomRegistry } from "./registries/random-registry.js";
import { reduced } from "./registries/reduced.js";

/** Registries of one program. */
const batch = 50;
const count = Number(process.env["OPWRIGHT_TEST_REGISTRIES"] ?? 3 * batch);
const given = process.env["OPWRIGHT_TEST_SEED"];
const first = given === undefined ? Math.floor(Math.random() * 1e9) : Number(given);

const sampled = (seed: number, numRuns: number) =>
  fc.sample(drawn(randomRegistry), { seed, numRuns });

test("what is accepted compiles and loads, and what is refused is refused by a finding", async () => {
  let sound = 0;
  for (let start = 0; start < count; start += batch) {
    const seed = first + start / batch;
    const registries = sampled(seed, Math.min(batch, count - start));
    const outcomes = await outcomesOf(registries);
    sound += outcomes.filter(({ kind }) => kind === "sound").length;
    const at = outcomes.findIndex(isFault);
    const found = outcomes[at];
    const registry = registries[at];
    if (found === undefined || registry === undefined || !isFault(found)) continue;
    const { value, fault } = await reduced({ value: registry, fault: found.fault });
    expect.fail(`OPWRIGHT_TEST_SEED=${seed} replays it.\n${fault}\n\n${stringify(value)}`);
  }
  // Otherwise the test has nothing to say.
  expect(sound).toBeGreaterThan(count / 4);
}, 3_600_000);

/** Keys that the format has, by their paths; `*` is what people name. */
function keysOf(shape: Shape, path: string): readonly string[] {
  switch (shape.kind) {
    case "object":
    case "choice":
      return Object.entries(shape.members).flatMap(([name, member]) => [
        `${path}.${name}`,
        ...keysOf(member.shape, `${path}.${name}`),
      ]);
    case "map":
    case "list":
      return keysOf(shape.of, `${path}.*`);
    case "either":
      return shape.of.flatMap((option) => keysOf(option, path));
    default:
      return [];
  }
}

/** Which of them a value has. */
function present(shape: Shape, value: unknown, path: string, found: Set<string>): void {
  const children = isMap(value) ? Object.entries(value) : [];
  if (shape.kind === "either") for (const option of shape.of) present(option, value, path, found);
  if (shape.kind === "list" && Array.isArray(value))
    for (const item of value) present(shape.of, item, `${path}.*`, found);
  if (shape.kind === "map")
    for (const [, inner] of children) present(shape.of, inner, `${path}.*`, found);
  if (shape.kind !== "object" && shape.kind !== "choice") return;
  for (const [name, inner] of children) {
    const member = shape.members[name];
    if (member === undefined) continue;
    found.add(`${path}.${name}`);
    present(member.shape, inner, `${path}.${name}`, found);
  }
}

test("random registries have every key of the format", () => {
  const found = new Set<string>();
  let missing: readonly string[] = ["all"];
  for (let seed = 1; seed <= 10 && missing.length > 0; seed += 1) {
    for (const registry of sampled(seed, 100)) present(registryShape, registry, "", found);
    missing = [...new Set(keysOf(registryShape, ""))].filter((key) => !found.has(key));
  }
  expect(missing).toEqual([]);
});
