// Merge patch (RFC 7396), except that null sets a nullable member to null instead of removing it (decisions.md §1).
import { isObject } from "../../contract/json-pointer.js";

type Body = Readonly<Record<string, unknown>>;

/** The body with the patch applied. `isNullable` tells of a dotted path whether null is one of its values. */
export function applyPatch(
  body: Body,
  patch: Body,
  isNullable: (path: string) => boolean,
  at = "",
): Body {
  const result: Record<string, unknown> = { ...body };
  for (const [key, change] of Object.entries(patch)) {
    const path = at === "" ? key : `${at}.${key}`;
    if (change === null && !isNullable(path)) {
      delete result[key];
    } else if (isObject(change)) {
      const current = result[key];
      result[key] = applyPatch(isObject(current) ? current : {}, change, isNullable, path);
    } else {
      result[key] = change;
    }
  }
  return result;
}
