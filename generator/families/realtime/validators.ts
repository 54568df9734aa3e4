// The validators of signals, and the names by which they are known in code.
import { refTo } from "../../model/json-schema.js";
import { camelCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ValidatorPlan } from "../../model/validator-plan.js";
import { freeName } from "../../print/printed-names.js";

/** The module that has them: no namespace has its name. */
export const signalValidators = "realtime-signals";

/** The names by events: `a.b_c` and `a_b.c` are told apart in code as well. */
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

/** A validator for what each event carries. */
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
