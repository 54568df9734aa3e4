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
const mostPrograms = 60;

/** The smallest that is found in reasonable time. The fault of the result need not be the same one. */
export async function reduced(start: Faulty): Promise<Faulty> {
  let smallest = start;
  let position = 0;
  for (let programs = 0; programs < mostPrograms; programs += 1) {
    const candidates = smaller(smallest.value).slice(position, position + width) as Json[];
    if (candidates.length === 0) break;
    const outcomes = await outcomesOf(candidates);
    const at = outcomes.findIndex(isFault);
    const found = outcomes[at];
    const value = candidates[at];
    position += at === -1 ? candidates.length : at;
    if (found !== undefined && value !== undefined && isFault(found))
      smallest = { value, fault: found.fault };
  }
  return smallest;
}

/** The value without one of its parts, the large ones first. */
function smaller(value: unknown): readonly unknown[] {
  const found: unknown[] = [];
  let level: readonly Part[] = [{ value, put: (whole) => whole }];
  while (level.length > 0) {
    level = level.flatMap(({ value: part, put }) =>
      childrenOf(part).map(([key, child]) => {
        found.push(put(without(part, key)));
        return { value: child, put: (changed: unknown) => put(withChild(part, key, changed)) };
      }),
    );
  }
  return found;
}

interface Part {
  readonly value: unknown;
  readonly put: (changed: unknown) => unknown;
}

function childrenOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isMap(value) || Array.isArray(value) ? Object.entries(value) : [];
}

function without(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.filter((_item, index) => String(index) !== key);
  return Object.fromEntries(childrenOf(value).filter(([name]) => name !== key));
}

function withChild(value: unknown, key: string, child: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? child : (item as unknown)));
  return { ...(value as Json), [key]: child };
}
