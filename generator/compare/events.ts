// Events of two registries, of the realtime plane and of the outbox: which there are, and what they carry.
import { refTo } from "../model/json-schema.js";
import type { Note } from "./change.js";
import { compareMembers, compareNamed, tellOf, type Rules, type Tell } from "./rules.js";
import type { ValueComparison } from "./values.js";

/** Compares events by their names, their members by the rules, and their types where both have one. */
export function compareEvents<Model extends { readonly typeName: string | null }>(
  kind: "event" | "integration event",
  [before, after]: readonly [Readonly<Record<string, Model>>, Readonly<Record<string, Model>>],
  rules: Rules<Model>,
  values: ValueComparison,
  note: Note,
): void {
  const tellOfEvent = (name: string): Tell => tellOf(note, { kind, name }, "realtime");
  compareNamed(before, after, tellOfEvent, (name, was, is) => {
    compareMembers(was, is, rules, tellOfEvent(name));
    if (was.typeName === null || is.typeName === null) return;
    const place = { subject: { kind, name }, direction: "answers" } as const;
    values.compare(
      { before: refTo(was.typeName), after: refTo(is.typeName) },
      { ...place, name: `${kind} ${name}`, affected: name },
    );
  });
}
