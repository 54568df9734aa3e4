// Events of two registries, of the realtime plane and of the outbox: which there are, and what they
// carry.
import type { DeprecationModel } from "../model/deprecation.js";
import { removal } from "./deprecations.js";
import { own } from "../model/records.js";
import { refTo } from "../model/json-schema.js";
import type { ChangeSubject } from "./change.js";
import type { Comparison } from "./comparison.js";
import { compareMembers, compareNamed, tellOf, type Rules, type Tell } from "./rules.js";

interface ComparedEvent {
  readonly typeName: string | null;
  readonly was?: string;
  readonly deprecated: DeprecationModel | null;
}

/**
 * Compares events of a section by their names, their members by the rules, and their types where
 * both have one.
 */
export function compareEvents<Model extends ComparedEvent>(
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
  const renamed = renamedEvents(before, after);
  const were = new Set(renamed.values());
  for (const [name, former] of renamed) {
    tellOfEvent(name)("breaking", `was called ${former}`);
    const [was, is] = [own(before, former), own(after, name)];
    if (was !== undefined && is !== undefined) compare(name, was, is);
  }
  const without = (events: Readonly<Record<string, Model>>, has: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(events).filter(([name]) => !has(name)));
  compareNamed(
    without(before, (name) => were.has(name)),
    without(after, (name) => renamed.has(name)),
    tellOfEvent,
    compare,
    ({ deprecated }) => removal(deprecated, today),
  );
}

/** The former names of events that are stored as they were, by their present names. */
function renamedEvents<Model extends ComparedEvent>(
  before: Readonly<Record<string, Model>>,
  after: Readonly<Record<string, Model>>,
): ReadonlyMap<string, string> {
  const stored = byStoredName(before);
  return new Map(
    Object.entries(after).flatMap(([name, { was = name }]) => {
      const former = own(stored, was)?.name;
      const isRenamed = former !== undefined && former !== name;
      return isRenamed && !Object.hasOwn(before, name) ? [[name, former] as const] : [];
    }),
  );
}

/** Events with their names, by the names under which they are stored. */
export function byStoredName<Model extends Pick<ComparedEvent, "was">>(
  events: Readonly<Record<string, Model>>,
): Readonly<Record<string, NamedEvent<Model>>> {
  return Object.fromEntries(
    Object.entries(events).map(([name, event]) => [event.was ?? name, { ...event, name }]),
  );
}

/** An event with its name. */
export type NamedEvent<Model> = Model & { readonly name: string };
