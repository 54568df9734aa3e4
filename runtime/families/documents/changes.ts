// What changed between two bodies, and whether two sets of changes touch each other (three-way merge, decisions.md §1).
import { jsonEqual } from "../../contract/validation.js";
import { isObject } from "../../contract/json-pointer.js";

type Body = Readonly<Record<string, unknown>>;

/** The leaf paths at which two bodies differ. Objects are compared member by member, arrays as a whole. */
export function changedPaths(
  from: Body,
  to: Body,
  at: readonly string[] = [],
): readonly (readonly string[])[] {
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key) => {
    const path = [...at, key];
    const [left, right] = [from[key], to[key]];
    if (jsonEqual(left, right)) return [];
    if (isObject(left) && isObject(right)) return changedPaths(left, right, path);
    return [path];
  });
}

/** The paths of `mine` that touch a path of `theirs`: equal, above or below it. */
export function overlappingPaths(
  mine: readonly (readonly string[])[],
  theirs: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return mine.filter((path) =>
    theirs.some((other) =>
      path.length <= other.length
        ? path.every((step, index) => step === other[index])
        : other.every((step, index) => step === path[index]),
    ),
  );
}

/** The value at a path, undefined where there is none. */
export function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), body);
}

/** The top-level members of `to` that differ from `from`; a member that is gone is null. */
export function diffOf(from: Body, to: Body): Body {
  const names = new Set(changedPaths(from, to).map(([name = ""]) => name));
  return Object.fromEntries([...names].map((name) => [name, to[name] ?? null]));
}
