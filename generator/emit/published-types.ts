// The types that clients can meet. Types that only unmounted operations use stay private.
import { families } from "../families/index.js";
import type { JsonSchema } from "../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { referredTypes } from "../model/referred-types.js";

/** Every type, except those that only operations without a route need. */
export function publishedTypes(model: RegistryModel): Readonly<Record<string, JsonSchema>> {
  const operations = Object.values(model.operations);
  const unmounted = operations.filter(({ route }) => route === null);
  if (unmounted.length === 0) return model.types;
  const mounted = operations.filter(({ route }) => route !== null);
  const others = families.flatMap((family) => family.met(model));
  const { errors } = model.service;
  const bodies = errors === null ? [] : [errors.typeName];
  const met = [...mounted.flatMap(typesOf), ...others, ...bodies];
  const hidden = reachTypes(model, unmounted.flatMap(typesOf));
  for (const type of reachTypes(model, met)) hidden.delete(type);
  return Object.fromEntries(Object.entries(model.types).filter(([name]) => !hidden.has(name)));
}

/** The types that an operation's schemas name directly. */
export function typesOf({ input, output }: OperationModel): readonly string[] {
  return [
    ...referredTypes(input.schema),
    ...referredTypes(input.body?.schema ?? true),
    ...referredTypes(output.schema ?? true),
  ];
}

/** These types, and all that they refer to, directly or not. */
export function reachTypes({ types }: RegistryModel, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...referredTypes(types[name] ?? true));
  }
  return found;
}
