// Pairs of registries: drawn, generated, lived through, judged; one that fails is made small.
import { engines, type TestEngine } from "../../support/engines.js";
import type { Rollout } from "../../../generator/diff/rollout.js";
import { base, type Json } from "./base.js";
import { changed, drawnChange, type DrawnChange } from "./catalogue.js";
import { made } from "./draws.js";
import { unsaid, type Failure } from "./failures.js";
import { lived, type Life } from "./story.js";
import { rolloutBetween, versionOf, type Version } from "./version.js";

export interface Pair {
  /** The changes that make the first version of the base, and the second of the first. */
  readonly first: readonly DrawnChange[];
  readonly second: readonly DrawnChange[];
  /** The seed of all that is written. */
  readonly seed: number;
}

/** What became of a pair. */
export interface Outcome extends Life {
  readonly pair: Pair;
  readonly registries: readonly [before: Json, after: Json];
  readonly rollout: Rollout;
  /** The failures of which the verdict says nothing. */
  readonly unsaid: readonly Failure[];
}

/** First versions that have been generated, by their changes: pairs share them. */
export class FirstVersions {
  readonly #known = new Map<string, Promise<Version | undefined>>();

  /** The first version; undefined where it is refused. */
  of(changes: readonly DrawnChange[]): Promise<Version | undefined> {
    const key = JSON.stringify(changes);
    const known = this.#known.get(key) ?? generated(changed(base, changes));
    this.#known.set(key, known);
    return known;
  }

  async remove(): Promise<void> {
    for (const version of this.#known.values()) (await version)?.project.remove();
  }
}

async function generated(
  registry: Json | undefined,
  earlier?: Version,
): Promise<Version | undefined> {
  if (registry === undefined) return undefined;
  try {
    return await versionOf(registry, earlier);
  } catch (error) {
    if (error instanceof Error && /^OPW\d/.test(error.message)) return undefined;
    throw error;
  }
}

/** The changes of a first version of which the registry is accepted; pairs with seeds near each other have the same. */
async function firstOf(seed: number, versions: FirstVersions): Promise<readonly DrawnChange[]> {
  for (let at = 0; at < 20; at += 1) {
    const changes = made(seed * 100 + at, (draw) =>
      Array.from({ length: draw.below(3) }, () => drawnChange(draw)),
    );
    if ((await versions.of(changes)) !== undefined) return changes;
  }
  return [];
}

/** How many pairs have the same first version. */
const shared = 8;

/** The pair of a seed, which is accepted, with what became of it. */
export async function outcomeOf(seed: number, versions: FirstVersions): Promise<Outcome> {
  const first = await firstOf(Math.floor(seed / shared), versions);
  for (let at = 0; at < 60; at += 1) {
    const second = made(seed * 100 + at, (draw) =>
      Array.from({ length: 1 + draw.below(3) }, () => drawnChange(draw)),
    );
    const outcome = await lifeOf({ first, second, seed }, versions);
    if (outcome !== undefined) return outcome;
  }
  throw new Error(`no second version is accepted, of seed ${seed}`);
}

/** What becomes of a pair; undefined where one of its versions is refused, or where they are the same. */
export async function lifeOf(pair: Pair, versions: FirstVersions): Promise<Outcome | undefined> {
  const before = await versions.of(pair.first);
  if (before === undefined) return undefined;
  const after = await generated(changed(before.registry, pair.second), before);
  if (after === undefined) return undefined;
  try {
    const rollout = rolloutBetween(before, after);
    const life = await lived(engineOf(pair.seed), { before, after }, pair.seed);
    const registries = [before.registry, after.registry] as const;
    return { pair, registries, rollout, ...life, unsaid: unsaid(life.failures, rollout) };
  } finally {
    after.project.remove();
  }
}

/** Engines take turns. */
function engineOf(seed: number): TestEngine {
  const there = engines.filter(({ isAvailable }) => isAvailable);
  const engine = there[seed % there.length];
  if (engine === undefined) throw new Error("there is no engine");
  return engine;
}

/** A pair that fails with as few changes as still do. */
export async function reducedPair(start: Outcome, versions: FirstVersions): Promise<Outcome> {
  let smallest = start;
  for (const part of ["second", "first"] as const)
    for (let at = start.pair[part].length - 1; at >= 0; at -= 1) {
      const fewer = smallest.pair[part].toSpliced(at, 1);
      const found = await lifeOf({ ...smallest.pair, [part]: fewer }, versions);
      if (found !== undefined && found.unsaid.length > 0) smallest = found;
    }
  return smallest;
}
