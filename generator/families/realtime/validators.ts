// The validators of signals, and their names in generated code.
import { refTo } from "../../model/json-schema.js";
import { camelCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ValidatorPlan } from "../../model/validator-plan.js";
import { freeName } from "../../print/printed-names.js";

/** The module of these validators. No namespace can have this name, because of the hyphen. */
export const signalValidators = "realtime-signals";

/** The name of each event's validator. `a.b_c` and `a_b.c` have the same camel case, so the second gets an underscore. */
export function signalValidatorNames(events: Iterable<string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const event of events) {
    const name = freeName(camelCase(event), (wanted) => taken.has(wanted));
    names.set(event, name);
    taken.add(name);
  }
  return names;
}

/** A validator for the data of each event, in one module. */
export function signalPlans({
  realtime,
}: RegistryModel): Readonly<Record<string, readonly ValidatorPlan[]>> {
  if (realtime === null) return {};
  const names = signalValidatorNames(Object.keys(realtime.events));
  const plans = Object.entries(realtime.events).map(([event, { typeName }]) => ({
    name: names.get(event) ?? "",
    schema: refTo(typeName),
    typeName,
  }));
  return { [signalValidators]: plans };
}
