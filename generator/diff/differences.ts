// Two lists as sets: what only one of them has.
import { isDeepStrictEqual } from "node:util";

/** What is gone and what has been added, each in the order of its list. */
export function differences<Value>(
  before: readonly Value[],
  after: readonly Value[],
): { readonly gone: readonly Value[]; readonly added: readonly Value[] } {
  return {
    gone: before.filter((one) => !contains(after, one)),
    added: after.filter((one) => !contains(before, one)),
  };
}

export function contains<Value>(values: readonly Value[], one: Value): boolean {
  return values.some((value) => isDeepStrictEqual(value, one));
}
