// Everything that is accepted compiles and loads: random registries, many in one program. A failing seed is replayed by
// OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_REGISTRIES says how many there are (`npm run test:long`).
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { registryShape } from "../../generator/expand/registry-shape.js";
import {
  isMap,
  membersOf as allOf,
  type Member,
  type FormatShape,
} from "../../generator/load/shape.js";
import { drawn } from "./registries/draw.js";
import { isFault, outcomesOf } from "./registries/program.js";
import { randomRegistry } from "./registries/random-registry.js";
import { reduced } from "./registries/reduced.js";

/** Registries of one program. */
const batch = 50;
const count = Number(process.env["OPWRIGHT_TEST_REGISTRIES"] ?? 24);
/** The same registries each time, so that a change answers for what it breaks; `npm run test:long` draws others. */
const first = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

const sampled = (seed: number, numRuns: number) =>
  fc.sample(drawn(randomRegistry), { seed, numRuns });

test("accepted registries compile and load, and refused ones have a finding", async () => {
  let sound = 0;
  /** How often a section was refused, and what for. */
  const refusals = new Map<string, number>();
  for (let start = 0; start < count; start += batch) {
    const seed = first + start / batch;
    const registries = sampled(seed, Math.min(batch, count - start));
    const outcomes = await outcomesOf(registries);
    sound += outcomes.filter(({ kind }) => kind === "sound").length;
    for (const outcome of outcomes)
      if (outcome.kind === "refused")
        for (const { code, message, at: place } of outcome.findings) {
          const why = `${String(place.path[0])}: ${code} ${message.replaceAll(/\d+|"[^"]*"/g, "…")}`;
          refusals.set(why, (refusals.get(why) ?? 0) + 1);
        }
    const at = outcomes.findIndex(isFault);
    const found = outcomes[at];
    const registry = registries[at];
    if (found === undefined || registry === undefined || !isFault(found)) continue;
    const { value, fault } = await reduced({ value: registry, fault: found.fault });
    expect.fail(`OPWRIGHT_TEST_SEED=${seed} replays it.\n${fault}\n\n${stringify(value)}`);
  }
  // Otherwise the test has nothing to say.
  const commonest = [...refusals].sort(([, one], [, other]) => other - one).slice(0, 5);
  const reasons = commonest.map(([why, times]) => `${times} × ${why}`).join("\n");
  expect(sound, `too few are sound; most often refused:\n${reasons}`).toBeGreaterThan(count / 4);
}, 3_600_000);

/** Members that the format has, by their paths; what several sections share is one member. */
function membersOf(shape: FormatShape, path: string): readonly (readonly [Member, string])[] {
  switch (shape.kind) {
    case "object":
    case "choice":
      return Object.entries(allOf(shape)).flatMap(([name, member]) => [
        [member, `${path}.${name}`] as const,
        ...membersOf(member.shape, `${path}.${name}`),
      ]);
    case "map":
    case "list":
      return membersOf(shape.of, `${path}.*`);
    case "either":
      return shape.of.flatMap((option) => membersOf(option, path));
    default:
      return [];
  }
}

/** Notes which of them a value has. */
function note(shape: FormatShape, value: unknown, found: Set<Member>): void {
  const children = isMap(value) ? Object.entries(value) : [];
  if (shape.kind === "either") for (const option of shape.of) note(option, value, found);
  if (shape.kind === "list" && Array.isArray(value))
    for (const item of value) note(shape.of, item, found);
  if (shape.kind === "map") for (const [, inner] of children) note(shape.of, inner, found);
  if (shape.kind !== "object" && shape.kind !== "choice") return;
  for (const [name, inner] of children) {
    const member = allOf(shape)[name];
    if (member === undefined) continue;
    found.add(member);
    note(member.shape, inner, found);
  }
}

test("random registries have every key of the format", () => {
  const found = new Set<Member>();
  let missing: readonly string[] = ["all"];
  for (let seed = 1; seed <= 20 && missing.length > 0; seed += 1) {
    for (const registry of sampled(seed, 100)) note(registryShape, registry, found);
    missing = membersOf(registryShape, "").flatMap(([member, path]) =>
      found.has(member) ? [] : [path],
    );
  }
  expect(missing).toEqual([]);
}, 600_000);
