// Merge patch (RFC 7396), except that null sets a nullable member to null instead of removing it
// (decisions.md §1).
import { isObject } from "../../contract/json-pointer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * The body with the patch applied. `isNullable` tells of a dotted path whether null is one of its
 * values.
 */
export function applyPatch(
  body: Body,
  patch: Body,
  isNullable: (path: string) => boolean,
  at = "",
): Body {
  const result = new Map(Object.entries(body));
  for (const [key, change] of Object.entries(patch)) {
    // Names of declared members have no dots: one of a map is none of them.
    const path = `${at}${at === "" ? "" : "."}${key.replaceAll(".", "\0")}`;
    if (change === null && !isNullable(path)) {
      result.delete(key);
    } else if (isObject(change)) {
      const current = result.get(key);
      result.set(key, applyPatch(isObject(current) ? current : {}, change, isNullable, path));
    } else {
      result.set(key, change);
    }
  }
  // Members are defined, and not set: `__proto__` is a name like others.
  return Object.fromEntries(result);
}
