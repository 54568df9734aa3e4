// Two frozen registries → the changes for clients, operation by operation and event by event.
import { families } from "../families/index.js";
import type { RegistryModel } from "../model/registry.js";
import { levels, type Change } from "../compare/change.js";
import { compareOperations } from "./operations.js";
import { compareService } from "./service.js";
import { shownBy } from "./shown.js";
import { ValueComparison } from "../compare/values.js";

/**
 * Changes from one registry to another, what opens first, then what breaks, then in the order of
 * their texts. `today` is a day in UTC.
 */
export function compareRegistries(
  before: RegistryModel,
  after: RegistryModel,
  today = new Date().toISOString().slice(0, 10),
): readonly Change[] {
  const found = new Map<string, Change>();
  const note = (change: Change): void => {
    const known = found.get(change.text) ?? change;
    const affects = [...new Set([...known.affects, ...change.affects])].sort();
    // The same change may be harmless in one place and not in another: the first level counts, and
    // that it breaks.
    const level = levels.find((one) => one === change.level || one === known.level) ?? known.level;
    const isBreaking = [change, known].some((one) => one.level === "breaking" || one.breaks);
    const breaks = level === "opens" && isBreaking ? ({ breaks: true } as const) : {};
    found.set(change.text, { ...known, level, affects, ...breaks });
  };
  const values = new ValueComparison(
    before.types,
    after.types,
    note,
    today,
    [before, after].map(shownBy),
  );
  compareOperations(before, after, values, note, today);
  compareService(before, after, note);
  for (const family of families) family.compare?.(before, after, { values, note, today });
  values.finish();
  return [...found.values()].sort(
    (left, right) =>
      levels.indexOf(left.level) - levels.indexOf(right.level) || (left.text < right.text ? -1 : 1),
  );
}
