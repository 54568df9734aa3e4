// Random registries from the format's own shape: a new key of the format is part of them without a change here, or asks
// for what may stand there. What only names something else is chosen among what is there (places.ts).
import { registryShape } from "../../../generator/expand/registry-shape.js";
import type { FormatShape } from "../../../generator/load/shape.js";
import type { Draw } from "./draw.js";
import { mended } from "./mend.js";
import { keysAt, valueAt } from "./places.js";
import { names, samples } from "./samples.js";
import { section, type World } from "./world.js";

/** Sections in the order in which they can name each other; what is not here comes last. */
const order =
  "types identity roles tenancy authorization scopes hooks policies operations realtime documents composites search storage outbox webhooks jobs job_runs audit".split(
    " ",
  );

/** How often a section is there, of a hundred; 50 where nothing is said. */
const frequencies: Readonly<Record<string, number>> = {
  types: 80,
  policies: 100,
  identity: 70,
  documents: 85,
  operations: 70,
  approved: 10,
};

/** A registry as it stands in YAML. Most are accepted; the others are to be refused with a finding. */
export function randomRegistry(draw: Draw): Readonly<Record<string, unknown>> {
  const world: World = {
    draw,
    made: {},
    fields: new Map(),
    typeNames: new Map(),
    namespaces: draw.some(names, 3, 6),
    references: new Set(),
    mounts: new Set(),
  };
  const density = draw.pick([15, 30, 60]);
  const { members } = registryShape;
  for (const section of new Set([...order, ...Object.keys(members)])) {
    const member = members[section];
    if (member === undefined) throw new Error(`the format has no section ${section}`);
    if (member.isRequired !== true && !draw.chance(frequencies[section] ?? 50)) continue;
    world.made[section] = filled(world, member.shape, [section], density);
  }
  return { registry: 1, ...mended(world.made, draw) };
}

/** A value of a shape; entries of lists stand at `*`. Optional keys are there `density` times of a hundred. */
export function filled(
  world: World,
  shape: FormatShape,
  path: readonly string[],
  density: number,
): unknown {
  const { draw } = world;
  const inner = (of: FormatShape, key: string): unknown =>
    filled(world, of, [...path, key], density);
  const chosen = valueAt(world, path);
  if (chosen !== undefined) return chosen;
  switch (shape.kind) {
    case "boolean":
      return draw.chance(50);
    case "integer":
      return shape.minimum + draw.below(5);
    case "number":
      return Number((shape.minimum + draw.below(100) / 100).toFixed(2));
    case "constant":
      return shape.value;
    case "oneOf":
      return draw.pick(shape.values);
    case "string": {
      const texts = samples[shape.what];
      if (texts === undefined)
        throw new Error(`there are no samples of ${shape.what}, for ${path.join(".")}`);
      return draw.pick(texts);
    }
    case "list": {
      const count = (shape.minItems ?? 0) + draw.below(3);
      const items = Array.from({ length: count }, () => inner(shape.of, "*"));
      return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
    }
    case "map":
      return Object.fromEntries(keysAt(world, path).map((key) => [key, inner(shape.of, key)]));
    case "choice": {
      const [name, member] = draw.pick(Object.entries(shape.members));
      const beside = Object.entries(shape.beside ?? {}).filter(() => draw.chance(density));
      return {
        [name]: inner(member.shape, name),
        ...Object.fromEntries(beside.map(([key, { shape: of }]) => [key, inner(of, key)])),
      };
    }
    case "either":
      return filled(world, draw.pick(shape.of), path, density);
    case "object":
      return Object.fromEntries(
        Object.entries(shape.members)
          .filter(([, { isRequired }]) => isRequired === true || draw.chance(density))
          .map(([name, member]) => [name, inner(member.shape, name)]),
      );
    case "name":
      return draw.pick(namesOf(world, shape.of));
    case "any":
      throw new Error(`nothing says what may stand at ${path.join(".")}`);
  }
}

function namesOf(
  world: World,
  of: Extract<FormatShape, { kind: "name" }>["of"],
): readonly string[] {
  return of === "namespaces" ? world.namespaces : Object.keys(section(world, of));
}
