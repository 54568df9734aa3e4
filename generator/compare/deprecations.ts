// Deprecations of two registries: what was announced may go from its sunset on, and no earlier.
import type { DeprecationModel } from "../model/deprecation.js";
import type { ChangeLevel } from "./change.js";

/** What it is that something is gone, given what was said of it before; days compare as texts. */
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

/** What has changed of a deprecation. A sunset that comes earlier breaks who has planned for it. */
export function deprecations(
  earlier: DeprecationModel | null | undefined,
  after: DeprecationModel | null,
): readonly (readonly [level: ChangeLevel, what: string])[] {
  // Registries that were frozen before there were deprecations say nothing.
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
