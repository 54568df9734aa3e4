// The rule that values are validated in time linear in their bytes, because clients choose how they
// nest.
import { referredType, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { branchesOf } from "../model/union-branches.js";
import type { Origin } from "../diagnostics/diagnostics.js";
import type { RuleContext } from "../kernel/rule.js";
import { workCounter } from "./schema-work.js";

/** Reports types whose values take more time for each byte the deeper they nest. */
export function validationIsLinear({ expanded, report }: RuleContext): void {
  const { model, types } = expanded;
  for (const [type, message] of validationFaults(model.types)) {
    const at: Origin = types.table.origins.get(type) ?? { file: "", path: [] };
    report({ code: "OPW088", message, at });
  }
}

/** Types whose values can't be validated in linear time, and why. */
export function validationFaults(
  types: Readonly<Record<string, JsonSchema>>,
): readonly (readonly [type: string, why: string])[] {
  const refused = new Map<string, string>();
  const leading = reachableTypes(types);
  for (const [type, schema] of Object.entries(types)) {
    const pair = undecidedPair(type, schema, types, leading);
    if (pair === undefined) continue;
    const [one, other] = pair;
    const why = `no member tells ${one} and ${other} apart`;
    refused.set(type, `${type} contains itself, and ${why} before they are checked`);
  }
  const isRefused = (type: string): boolean =>
    refused.has(type) || [...(leading.get(type) ?? [])].some((name) => refused.has(name));
  const heaviestWork = workCounter(types);
  for (const [type, schema] of Object.entries(types)) {
    if (isRefused(type)) continue;
    const heaviest = heaviestWork(schema);
    if (heaviest === undefined) continue;
    refused.set(type, `a value within ${type} can be checked against ${heaviest} schemas at once`);
  }
  return [...refused];
}

/** The types that values of each type may contain, however deep. */
function reachableTypes(
  types: Readonly<Record<string, JsonSchema>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map(
    Object.entries(types).map(([name, schema]) => [name, mentionedTypes(schema)]),
  );
  const reach = (name: string): ReadonlySet<string> => {
    const found = new Set<string>();
    const queue = [...(direct.get(name) ?? [])];
    for (const next of queue) {
      if (found.has(next)) continue;
      found.add(next);
      queue.push(...(direct.get(next) ?? []));
    }
    return found;
  };
  return new Map(Object.keys(types).map((name) => [name, reach(name)]));
}

function mentionedTypes(schema: JsonSchema): readonly string[] {
  const found: string[] = [];
  for (const inner of schemasIn(schema)) {
    const type = referredType(inner);
    if (type !== undefined) found.push(type);
  }
  return found;
}

/** All schemas within a schema, and itself. */
function* schemasIn(schema: unknown): Generator<SchemaObject> {
  if (typeof schema !== "object" || schema === null) return;
  if (!Array.isArray(schema)) yield schema as SchemaObject;
  for (const value of Object.values(schema)) yield* schemasIn(value);
}

/**
 * Two branches of a union in the type that a value may be both of, the first of which leads back to
 * the type.
 */
function undecidedPair(
  type: string,
  schema: JsonSchema,
  types: Readonly<Record<string, JsonSchema>>,
  leading: ReadonlyMap<string, ReadonlySet<string>>,
): readonly [string, string] | undefined {
  if (leading.get(type)?.has(type) !== true) return undefined;
  const leadsBack = (option: JsonSchema): boolean =>
    mentionedTypes(option).some((name) => name === type || leading.get(name)?.has(type) === true);
  for (const union of schemasIn(schema)) {
    for (const keyword of ["anyOf", "oneOf"]) {
      const options = union[keyword];
      if (!Array.isArray(options) || !options.some(leadsBack)) continue;
      // A branch that is the type itself never ends, which OPW022 says.
      if (options.some((option) => referredType(option as JsonSchema) === type)) continue;
      const nameOf = (index: number): string =>
        referredType(options[index] as JsonSchema) ?? `branch ${index + 1}`;
      const { undecided } = branchesOf(options as readonly JsonSchema[], (reference) =>
        own(types, referredType({ $ref: reference }) ?? ""),
      );
      for (const [one, other] of undecided) {
        if (leadsBack(options[one] as JsonSchema)) return [nameOf(one), nameOf(other)];
        if (leadsBack(options[other] as JsonSchema)) return [nameOf(other), nameOf(one)];
      }
    }
  }
  return undefined;
}
