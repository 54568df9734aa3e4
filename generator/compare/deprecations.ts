// Deprecations of two registries: a deprecated thing may be removed from its sunset on, and not
// earlier.
import type { DeprecationModel } from "../model/deprecation.js";
import type { ChangeLevel } from "./change.js";

/** The level of a removal, given the deprecation that announced it; days compare as texts. */
export function removal(
  before: DeprecationModel | null | undefined,
  today: string,
  gone = "is gone",
): { readonly level: ChangeLevel; readonly what: string } {
  const sunset = before?.sunset ?? null;
  if (sunset === null) return { level: "breaking", what: gone };
  if (today < sunset) return { level: "breaking", what: `${gone} before its sunset on ${sunset}` };
  return { level: "additive", what: `${gone} since its sunset on ${sunset}` };
}

/**
 * How a deprecation has changed. An earlier sunset is breaking, because clients planned for the
 * later one.
 */
export function deprecations(
  earlier: DeprecationModel | null | undefined,
  after: DeprecationModel | null,
): readonly (readonly [level: ChangeLevel, what: string])[] {
  // Registries that were frozen before there were deprecations have none.
  const before = earlier ?? null;
  if (after === null) return before === null ? [] : [["documentation", "is no longer deprecated"]];
  if (before === null) {
    const end = after.sunset === null ? "" : `, with its sunset on ${after.sunset}`;
    return [["documentation", `is deprecated${end}`]];
  }
  const [was, is] = [before.sunset, after.sunset];
  if (was === is) return [];
  if (is === null) return [["documentation", "has no sunset any more"]];
  const isEarlier = was !== null && is < was;
  const instead = was === null ? "" : ` instead of ${was}`;
  return [[isEarlier ? "breaking" : "documentation", `has its sunset on ${is}${instead}`]];
}
