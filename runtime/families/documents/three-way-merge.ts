// Three-way merge of a patch made on an old revision (decisions.md "Documents": history on).
import { fail } from "../../contract/errors.js";
import { isObject, valueAt } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import { jsonEqual } from "../../contract/validation.js";
import { changedPaths, namesOf } from "./changes.js";

type Body = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/**
 * Merges `mine` (the patched old revision) into `current`. Edits of different places merge; both
 * sides writing the same value is no conflict. Throws `historical_consistency_violation` with the
 * dotted fields where edits overlap.
 */
export function mergeThreeWay(base: Body, mine: Body, current: Body): Body {
  const conflicts: Path[] = [];
  const merged = mergedMembers(base, mine, current, [], conflicts);
  if (conflicts.length === 0) return merged;
  const fields = conflicts.slice(0, limits.maxReportedErrors).map((path) => path.join("."));
  throw fail("historical_consistency_violation", { fields });
}

/** Member by member, each looked at once. */
function mergedMembers(base: Body, mine: Body, current: Body, at: Path, conflicts: Path[]): Body {
  const members = [...namesOf(current, base, mine)].map((name) => {
    const value = mergedValue(base[name], mine[name], current[name], [...at, name], conflicts);
    return [name, value] as const;
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function mergedValue(
  base: unknown,
  mine: unknown,
  current: unknown,
  at: Path,
  conflicts: Path[],
): unknown {
  if (isObject(base) && isObject(mine)) {
    if (isObject(current)) return mergedMembers(base, mine, current, at, conflicts);
    // The others have replaced, or removed, what members of mine are in.
    for (const path of changedPaths(base, mine))
      if (valueAt(mine, path) !== undefined) conflicts.push([...at, ...path]);
    return current;
  }
  if (jsonEqual(base, mine)) return current;
  if (!jsonEqual(base, current) && !jsonEqual(mine, current)) conflicts.push(at);
  return mine;
}
