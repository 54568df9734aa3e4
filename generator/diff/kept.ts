// What is kept besides documents (answers under idempotency keys, events, signals, inputs of jobs)
// and told by whichever version comes to it.
import { need, type Need, type RolloutSide } from "../compare/rollout.js";
import { keptValues } from "../emit/kept.js";
import type { KeptValue } from "../model/kept-values.js";
import { faultsOfReading } from "./kept-reading.js";

/** How the kinds are called. */
const kinds: Readonly<Record<KeptValue["kind"], (names: string) => string>> = {
  answers: (names) => `answers of ${names} under an Idempotency-Key`,
  events: (names) => `events ${names}`,
  signals: (names) => `signals ${names}`,
  inputs: (names) => `inputs of jobs ${names}`,
};
/** How many differences one line names. */
const mostNamed = 3;

/**
 * Values that one of two versions keeps and the other one may not tell as it declares them; one
 * line for one cause.
 */
export function keptNeeds(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const next = new Map(keptValues(after.model).map((one) => [keyOf(one), one]));
  const both = keptValues(before.model).flatMap((was) => {
    const is = next.get(keyOf(was));
    return is === undefined ? [] : [[was, is] as const];
  });
  return [
    ...needsOf(
      "the version before",
      both.map(([was, is]) => [was, faultsOfReading([was.schema, is.schema], before, after)]),
    ),
    ...needsOf(
      "the next version",
      both.map(([was, is]) => [is, faultsOfReading([is.schema, was.schema], after, before)]),
    ),
  ];
}

function keyOf({ kind, name, was = name }: KeptValue): string {
  return `${kind} ${was}`;
}

function needsOf(
  keeper: string,
  kept: readonly (readonly [KeptValue, readonly string[]])[],
): readonly Need[] {
  const causes = new Map<string, KeptValue[]>();
  for (const [value, faults] of kept) {
    if (faults.length === 0) continue;
    const further = faults.length > mostNamed ? ", …" : "";
    const cause = faults.slice(0, mostNamed).join(", ") + further;
    causes.set(cause, [...(causes.get(cause) ?? []), value]);
  }
  return [...causes].flatMap(([cause, values]) =>
    need(
      "clients meet both versions",
      `${describeKept(values)} that ${keeper} keeps are told by the other one, and may not be as it declares them: ${cause}`,
    ),
  );
}

/** `signals a, b and answers of c under an Idempotency-Key`. */
function describeKept(values: readonly KeptValue[]): string {
  const parts = (["signals", "events", "answers", "inputs"] as const).flatMap((kind) => {
    const names = values.filter((one) => one.kind === kind).map(({ name }) => name);
    return names.length === 0 ? [] : [kinds[kind](names.join(", "))];
  });
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}
