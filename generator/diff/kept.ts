// What is kept besides documents (answers under idempotency keys, events, signals) and read by whichever version comes to it.
import { need, type Need, type RolloutSide } from "../compare/rollout.js";
import { keptValues } from "../emit/kept.js";
import type { KeptValue } from "../model/kept-values.js";
import { faultsOfReading } from "./kept-reading.js";

/** How the kinds are called. */
const kinds: Readonly<Record<KeptValue["kind"], (name: string) => string>> = {
  answers: (name) => `answers of ${name} under an Idempotency-Key`,
  events: (name) => `events ${name}`,
  signals: (name) => `signals ${name}`,
};
/** How many differences one line names. */
const mostNamed = 3;

/** Values that one of two versions keeps and the other one can't read as it declares them. */
export function keptNeeds(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const next = new Map(keptValues(after.model).map((one) => [keyOf(one), one]));
  return keptValues(before.model).flatMap((was) => {
    const is = next.get(keyOf(was));
    if (is === undefined) return [];
    return [
      ...needOf(was, "the version before", faultsOfReading([was.schema, is.schema], before, after)),
      ...needOf(is, "the next version", faultsOfReading([is.schema, was.schema], after, before)),
    ];
  });
}

function keyOf({ kind, name, was = name }: KeptValue): string {
  return `${kind} ${was}`;
}

function needOf(
  { kind, name, until }: KeptValue,
  keeper: string,
  faults: readonly string[],
): readonly Need[] {
  if (faults.length === 0) return [];
  const further = faults.length > mostNamed ? ", …" : "";
  return need(
    "clients meet both versions",
    `${kinds[kind](name)} that ${keeper} keeps are told by the other one ${until}, and may not be as it declares them: ` +
      `${faults.slice(0, mostNamed).join(", ")}${further}`,
  );
}
