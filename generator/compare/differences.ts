// Two unordered lists: what only one of them has, or has more often.
import { isDeepStrictEqual } from "node:util";

/** The removed and the added members, each in the order of its list. */
export function differences<Value>(
  before: readonly Value[],
  after: readonly Value[],
): { readonly gone: readonly Value[]; readonly added: readonly Value[] } {
  const added = [...after];
  const gone = before.filter((one) => {
    const at = added.findIndex((other) => isDeepStrictEqual(other, one));
    if (at >= 0) added.splice(at, 1);
    return at === -1;
  });
  return { gone, added };
}

export function contains<Value>(values: readonly Value[], one: Value): boolean {
  return values.some((value) => isDeepStrictEqual(value, one));
}
