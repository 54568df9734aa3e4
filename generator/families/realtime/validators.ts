// The validators of signals.
import { refTo } from "../../model/json-schema.js";
import type { KeptValue } from "../../model/kept-values.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ValidatorPlan } from "../../model/validator-plan.js";
import { camelNames } from "../../print/printed-names.js";

/** The module of these validators. No namespace can have this name, because of the hyphen. */
export const signalValidators = "realtime-signals";

/** A validator for the data of each event, in one module. */
export function signalPlans({
  realtime,
}: RegistryModel): Readonly<Record<string, readonly ValidatorPlan[]>> {
  if (realtime === null) return {};
  const names = camelNames(Object.keys(realtime.events));
  const plans = Object.entries(realtime.events).map(([event, { typeName }]) => ({
    name: names.get(event) ?? "",
    schema: refTo(typeName),
    typeName,
  }));
  return { [signalValidators]: plans };
}

/**
 * Durable signals wait in mailboxes; ephemeral ones go from one process to another, which may be of
 * another version.
 */
export function keptSignals({ realtime }: RegistryModel): readonly KeptValue[] {
  if (realtime === null) return [];
  return Object.entries(realtime.events).map(([name, { typeName, was }]) => ({
    kind: "signals",
    name,
    was,
    schema: refTo(typeName),
  }));
}
