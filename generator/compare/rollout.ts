// Rules of rollouts, one for each member of a model that something stored depends on: what older
// and newer processes do with what the other has stored (evolution.md "Roll out"). A new member
// doesn't compile until it has a rule.
import { isDeepStrictEqual } from "node:util";
import { omitDescriptions, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { referredTypes } from "../model/referred-types.js";
import type { RegistryModel } from "../model/registry.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

/** The verdicts on a rollout, the mildest first. */
export const verdicts = [
  "safe to roll",
  "needs the migration first",
  "clients meet both versions",
  "needs two releases",
  "leaves stored things behind",
] as const;

export type Verdict = (typeof verdicts)[number];

/** A registry, and the database that it needs. */
export interface RolloutSide {
  readonly model: RegistryModel;
  readonly database: DatabaseSchema;
}

/** One requirement of a rollout, and the remedy in words. */
export interface Need {
  readonly verdict: Verdict;
  readonly text: string;
}

/** Both sides of a rollout, and the name of the rule's subject. */
export interface Rolling {
  readonly name: string;
  readonly before: RolloutSide;
  readonly after: RolloutSide;
}

/**
 * What a changed member takes; null if nothing that is stored depends on it, or if another member
 * tells.
 */
export type RolloutRule<Model, Value> =
  | ((was: Model, is: Model, rolling: Rolling, values: readonly [Value, Value]) => readonly Need[])
  | null;
export type RolloutRules<Model> = {
  readonly [Member in keyof Model]-?: RolloutRule<Model, Model[Member]>;
};

/** Judges the changed members of one subject. */
export function needsOfMembers<Model>(
  was: Model,
  is: Model,
  rules: RolloutRules<Model>,
  rolling: Rolling,
): readonly Need[] {
  return (Object.keys(rules) as (keyof Model)[]).flatMap((member) => {
    const rule = rules[member];
    const values = [was[member], is[member]] as const;
    if (rule === null || isDeepStrictEqual(...values)) return [];
    return rule(was, is, rolling, values);
  });
}

/** The same of each that both have, by name. `gone` tells of those that only the first has. */
export function needsOfAll<Model>(
  models: readonly [
    before: Readonly<Record<string, Model>>,
    after: Readonly<Record<string, Model>>,
  ],
  rules: RolloutRules<Model>,
  sides: readonly [RolloutSide, RolloutSide],
  gone: (was: Model, rolling: Rolling) => readonly Need[] = () => [],
): readonly Need[] {
  const [before, after] = sides;
  return Object.entries(models[0]).flatMap(([name, was]) => {
    const is = own(models[1], name);
    const rolling = { name, before, after };
    return is === undefined ? gone(was, rolling) : needsOfMembers(was, is, rules, rolling);
  });
}

/** A need of one verdict. */
export function need(verdict: Verdict, text: string): readonly Need[] {
  return [{ verdict, text }];
}

/** Whether a type is told otherwise than before, with all types that it refers to. */
export function isTypeChanged(
  type: string,
  { before, after }: Pick<Rolling, "before" | "after">,
  seen = new Set<string>(),
): boolean {
  if (seen.has(type)) return false;
  seen.add(type);
  const [was, is] = [own(before.model.types, type), own(after.model.types, type)];
  if (was === undefined || is === undefined) return was !== is;
  if (!isDeepStrictEqual(omitDescriptions(was), omitDescriptions(is))) return true;
  return refersToChanged(is, { before, after }, seen);
}

/** The same of a type that may have another name in each. */
export function isTypeReplaced(
  [was, is]: readonly [was: string, is: string],
  sides: Pick<Rolling, "before" | "after">,
): boolean {
  if (was === is) return isTypeChanged(is, sides);
  const [old, next] = [own(sides.before.model.types, was), own(sides.after.model.types, is)];
  if (old === undefined || next === undefined) return true;
  return (
    !isDeepStrictEqual(omitDescriptions(old), omitDescriptions(next)) ||
    refersToChanged(next, sides)
  );
}

/** Whether a schema refers to a type that is told otherwise than before. */
export function refersToChanged(
  schema: JsonSchema,
  sides: Pick<Rolling, "before" | "after">,
  seen?: Set<string>,
): boolean {
  return referredTypes(schema).some((type) => isTypeChanged(type, sides, seen));
}
