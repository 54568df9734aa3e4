// Rules of comparison, one for each member of a model: a new member doesn't compile until it has a
// rule.
import { removal } from "./deprecations.js";
import { isDeepStrictEqual } from "node:util";
import type { FunctionReference } from "../model/code.js";
import { own } from "../model/records.js";
import type { ChangeArea, ChangeLevel, Note, ChangeSubject } from "./change.js";
import { differences } from "./differences.js";

/**
 * The change of a member and its level; null if clients don't meet it, or if it is reported
 * elsewhere.
 */
export type Rule<Value> = ((before: Value, after: Value) => readonly Told[]) | null;
export type Told = readonly [level: ChangeLevel, what: string, field?: string | undefined];
export type Rules<Model> = { readonly [Member in keyof Model]-?: Rule<Model[Member]> };
/** Receives the changes of one subject. */
export type Tell = (level: ChangeLevel, what: string, field?: string | undefined) => void;

/** More of it is additive, less is breaking; null is without bound. */
export function amount(
  what: (text: string) => string,
  unit: string,
  more: ChangeLevel = "additive",
) {
  return (before: number | null, after: number | null): readonly Told[] => {
    const isLess = (after ?? Number.POSITIVE_INFINITY) < (before ?? Number.POSITIVE_INFINITY);
    return [[isLess ? "breaking" : more, what(after === null ? "any" : `${after}${unit}`)]];
  };
}

/**
 * What callers may have at most, or how long what they hold is good for: more of it opens, less is
 * breaking.
 */
export function limit(what: (text: string) => string, unit: string) {
  return amount(what, unit, "opens");
}

/** Choices in no order: another one is an offer, one less breaks. */
export function choices<Value>(
  has: (value: Value) => string,
  lacks: (value: Value) => string,
  more: ChangeLevel = "additive",
) {
  return (before: readonly Value[], after: readonly Value[]): readonly Told[] => {
    const { gone, added } = differences(before, after);
    return [
      ...gone.map((one): Told => ["breaking", lacks(one)]),
      ...added.map((one): Told => [more, has(one)]),
    ];
  };
}

/**
 * Choices in no order of which each lets somebody in, or lets somebody see: another one opens, one
 * less breaks.
 */
export function admissions<Value>(has: (value: Value) => string, lacks: (value: Value) => string) {
  return choices(has, lacks, "opens");
}

/** Admissions of which the first counts, so a change of their order is a change too. */
export function compareOrdered<Value>(what: (value: Value) => string) {
  const compare = admissions(what, (one) => `no longer ${what(one)}`);
  return (before: readonly Value[], after: readonly Value[]): readonly Told[] => {
    const told = compare(before, after);
    return told.length === 0 ? [["breaking", "looks in another order"]] : told;
  };
}

export function value<Value>(level: ChangeLevel, what: (value: Value) => string) {
  return (_before: Value, after: Value): readonly Told[] => [[level, what(after)]];
}

/**
 * Reports changes of a subject under its name, or as it is called where that could be the name of
 * an operation.
 */
export function tellOf(
  note: Note,
  subject: ChangeSubject,
  area: ChangeArea,
  called: string = subject.name,
): Tell {
  return (level, what, field) =>
    note({
      text: `${called} ${what}`,
      level,
      area,
      subject,
      affects: [subject.name],
      ...(field === undefined ? {} : { field }),
    });
}

/** Compares two maps by name: reports new and removed members, and compares the others. */
export function compareNamed<Value>(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
  tellOfName: (name: string) => Tell,
  compare: (name: string, before: Value, after: Value) => void,
  removalOf: (before: Value) => ReturnType<typeof removal> = () => removal(null, ""),
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [own(before, name), own(after, name)];
    if (was === undefined) tellOfName(name)("additive", "is new");
    else if (is !== undefined) compare(name, was, is);
    else {
      const { level, what } = removalOf(was);
      tellOfName(name)(level, what);
    }
  }
}

/**
 * What lets others through: it opens for some, and breaks for those who were let through before.
 */
export function tellExchange(what: string, field?: string): readonly Told[] {
  return [
    ["opens", what, field],
    ["breaking", what, field],
  ];
}

/**
 * A function of the author's that decides who may do something. What it decides is not to be seen
 * here.
 */
export function compareDecision(what: string) {
  return (before: FunctionReference | null, after: FunctionReference | null): readonly Told[] =>
    before?.name === after?.name ? [] : tellExchange(what);
}

/** A function of the author's; clients don't care where its file is. */
export function compareFunction(what: string) {
  return (before: FunctionReference | null, after: FunctionReference | null): readonly Told[] =>
    before?.name === after?.name ? [] : [["breaking", what]];
}

/** Compares two of one kind, member by member. */
export function compareMembers<Model>(
  before: Model,
  after: Model,
  rules: Rules<Model>,
  tell: Tell,
): void {
  for (const member of Object.keys(rules) as (keyof Model)[]) {
    const rule = rules[member];
    if (rule === null || isDeepStrictEqual(before[member], after[member])) continue;
    for (const told of rule(before[member], after[member])) tell(...told);
  }
}

/** Compares what both have; removed ones are reported by each of their operations. */
export function compareAll<Model>(
  before: Readonly<Record<string, Model>>,
  after: Readonly<Record<string, Model>>,
  rules: Rules<Model>,
  noteOf: (name: string) => Tell,
): void {
  for (const [name, old] of Object.entries(before)) {
    const next = own(after, name);
    if (next !== undefined) compareMembers(old, next, rules, noteOf(name));
  }
}
