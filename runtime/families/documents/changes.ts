// What changed between two bodies.
import { jsonEqual } from "../../contract/validation.js";
import { isObject } from "../../contract/json-pointer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * The leaf paths at which two bodies differ. Objects are compared member by member, arrays as a
 * whole.
 */
export function* changedPaths(
  from: Body,
  to: Body,
  at: readonly string[] = [],
): Generator<readonly string[]> {
  for (const key of namesOf(from, to)) {
    const [left, right] = [from[key], to[key]];
    if (isObject(left) && isObject(right)) yield* changedPaths(left, right, [...at, key]);
    else if (!jsonEqual(left, right)) yield [...at, key];
  }
}

/** The names of the members of bodies, each once. */
export function namesOf(...bodies: readonly Body[]): ReadonlySet<string> {
  return new Set(bodies.flatMap((body) => Object.keys(body)));
}

/** The top-level members of `to` that differ from `from`; a member that is gone is null. */
export function diffOf(from: Body, to: Body): Body {
  const names = [...namesOf(from, to)].filter((name) => !jsonEqual(from[name], to[name]));
  return Object.fromEntries(names.map((name) => [name, to[name] ?? null]));
}
