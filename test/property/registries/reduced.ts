// A registry that shows a fault, made small: what can be left out while a fault stays is left out.
import { isMap } from "../../../generator/load/shape.js";
import { isFault, outcomesOf } from "./program.js";
import type { Json } from "./world.js";

interface Faulty {
  readonly value: Json;
  readonly fault: string;
}

/** Registries that are compiled at once. */
const width = 40;
const mostPrograms = 40;

/**
 * The smallest that is found in reasonable time: what can be left out alone is left out together, as far as a fault
 * stays, which need not be the same one.
 */
export async function reduced(start: Faulty): Promise<Faulty> {
  let smallest = start;
  let position = 0;
  for (let programs = 0; programs < mostPrograms; programs += 2) {
    const { value } = smallest;
    const paths = pathsOf(value).slice(position, position + width);
    if (paths.length === 0) break;
    const alone = await faultyOf(paths.map((path) => without(value, path) as Json));
    const free = paths.filter((_path, index) => alone.has(index));
    const together = free.map((_path, index) =>
      free.slice(0, index + 1).reduce<unknown>(without, value),
    ) as Json[];
    const found = [...(await faultyOf(together)).values()].at(-1);
    if (found === undefined) position += paths.length;
    else smallest = found;
  }
  return smallest;
}

/** Those of some registries that show a fault, by their place. */
async function faultyOf(registries: readonly Json[]): Promise<ReadonlyMap<number, Faulty>> {
  const outcomes = await outcomesOf(registries);
  const faulty = new Map<number, Faulty>();
  for (const [index, value] of registries.entries()) {
    const outcome = outcomes[index];
    if (outcome !== undefined && isFault(outcome))
      faulty.set(index, { value, fault: outcome.fault });
  }
  return faulty;
}

/** Where the parts of a value are, the large ones first. */
function pathsOf(value: unknown): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  let level: readonly { readonly path: readonly string[]; readonly value: unknown }[] = [
    { path: [], value },
  ];
  while (level.length > 0) {
    level = level.flatMap((parent) =>
      childrenOf(parent.value).map(([key, child]) => ({
        path: [...parent.path, key],
        value: child,
      })),
    );
    found.push(...level.map(({ path }) => path));
  }
  return found;
}

function childrenOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isMap(value) || Array.isArray(value) ? Object.entries(value) : [];
}

/** The value without the part at a path, where it has one. */
function without(value: unknown, [key, ...rest]: readonly string[]): unknown {
  const children = childrenOf(value).flatMap(
    ([name, child]): readonly (readonly [string, unknown])[] => {
      if (name !== key) return [[name, child]];
      return rest.length === 0 ? [] : [[name, without(child, rest)]];
    },
  );
  if (Array.isArray(value)) return children.map(([, child]) => child);
  return isMap(value) ? Object.fromEntries(children) : value;
}
