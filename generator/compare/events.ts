// Events of two registries, of the realtime plane and of the outbox: which there are, and what they carry.
import type { DeprecationModel } from "../model/deprecation.js";
import { removal } from "./deprecations.js";
import { refTo } from "../model/json-schema.js";
import type { ChangeSubject } from "./change.js";
import type { Comparison } from "./comparison.js";
import { compareMembers, compareNamed, tellOf, type Rules, type Tell } from "./rules.js";

interface DeprecatedEvent {
  readonly typeName: string | null;
  readonly deprecated: DeprecationModel | null;
}

/** Compares events of a section by their names, their members by the rules, and their types where both have one. */
export function compareEvents<Model extends DeprecatedEvent>(
  { kind, section }: { readonly kind: string; readonly section: string },
  [before, after]: readonly [Readonly<Record<string, Model>>, Readonly<Record<string, Model>>],
  rules: Rules<Model>,
  { values, note, today }: Comparison,
): void {
  const subjectOf = (name: string): ChangeSubject => ({
    kind,
    name,
    declared: [section, "events", name],
  });
  const tellOfEvent = (name: string): Tell =>
    tellOf(note, subjectOf(name), "realtime", `${kind} ${name}`);
  const compare = (name: string, was: Model, is: Model): void => {
    compareMembers(was, is, rules, tellOfEvent(name));
    if (was.typeName === null || is.typeName === null) return;
    const place = { subject: subjectOf(name), direction: "answers" } as const;
    values.compare(
      { before: refTo(was.typeName), after: refTo(is.typeName) },
      { ...place, name: `${kind} ${name}`, affected: name },
    );
  };
  compareNamed(before, after, tellOfEvent, compare, ({ deprecated }) => removal(deprecated, today));
}
