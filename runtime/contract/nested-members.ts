// Members within the members of documents: a version cuts those that it doesn't know, and keeps
// them when it writes.
import { canonicalJson } from "./canonical-json.js";
import { isObject } from "./json-pointer.js";
import { jsonEqual } from "./validation.js";

/**
 * What a version knows of values: which members objects may have, and what is within these and
 * within lists.
 */
export interface Nested {
  /** The only members that objects may have; absent if they may have others. */
  readonly names?: readonly string[];
  /** What is within members of objects. */
  readonly members?: NestedTypes;
  /** What is within members that aren't named. */
  readonly others?: Nested;
  /** What is within elements of lists. */
  readonly items?: Nested;
  /** What is known besides. */
  readonly all?: readonly Nested[];
  /** The forms of which values have one. */
  readonly either?: readonly NestedForm[];
  /** The type that says it. */
  readonly type?: string;
}

/** A form that values may have, and how to tell it from the others. */
export interface NestedForm {
  /** Whether lists or objects have it; absent if both may. */
  readonly of?: "lists" | "objects";
  /** What members of objects must be. */
  readonly when?: Readonly<Record<string, FormMember>>;
  readonly is: Nested;
}

interface FormMember {
  /** The values that it may have; null if it may have any. */
  readonly values: readonly (string | number | boolean | null)[] | null;
  readonly canLack: boolean;
}

/** What is known of values, by the name of a member or a type. */
export type NestedTypes = Readonly<Record<string, Nested>>;

/** What a shape knows of values within its members. */
export interface NestedMembers {
  /** By the members' names in rows. */
  readonly members: NestedTypes;
  /** Types that the members refer to. */
  readonly types: NestedTypes;
}

type Members = Readonly<Record<string, unknown>>;

function own(record: NestedTypes | undefined, name: string): Nested | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The members of a body with only those members within that a shape knows. */
export function cutNested({ members: known, types }: NestedMembers, members: Members): Members {
  return mappedMembers(members, (value, name) => cutValue(own(known, name), value, types));
}

function cutValue(nested: Nested | undefined, value: unknown, types: NestedTypes): unknown {
  if (nested === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const within = itemsOf(nested, value, types);
    return within === undefined ? value : value.map((item) => cutValue(within, item, types));
  }
  if (!isObject(value)) return value;
  const known = Object.entries(value).filter(([name]) => mayHave(nested, value, name, types));
  return mappedMembers(Object.fromEntries(known), (member, name) =>
    cutValue(memberOf(nested, value, name, types), member, types),
  );
}

/**
 * The members of a body that was cut and then changed, with what the cut has left out. What is left
 * out stays with an object that still has its form, and with an element of a list that is as it
 * was; it goes with what is replaced.
 */
export function keptNested(
  { members: known, types }: NestedMembers,
  [newer, cut, changed]: readonly [newer: Members, cut: Members, changed: Members],
): Members {
  return mappedMembers(changed, (value, name) =>
    Object.hasOwn(newer, name) && Object.hasOwn(cut, name)
      ? keptValue(own(known, name), [newer[name], cut[name], value], types)
      : value,
  );
}

function keptValue(
  nested: Nested | undefined,
  [newer, cut, changed]: readonly [newer: unknown, cut: unknown, changed: unknown],
  types: NestedTypes,
): unknown {
  if (jsonEqual(cut, changed)) return newer;
  if (Array.isArray(newer) && Array.isArray(cut) && Array.isArray(changed))
    return keptElements(newer, cut, changed);
  if (!isObject(newer) || !isObject(cut) || !isObject(changed)) return changed;
  if (!jsonEqual(formsOf(nested, cut, types), formsOf(nested, changed, types))) return changed;
  const unknown = Object.entries(newer).filter(
    ([name]) => !Object.hasOwn(cut, name) && !Object.hasOwn(changed, name),
  );
  const kept = mappedMembers(changed, (value, name) => {
    if (!Object.hasOwn(newer, name) || !Object.hasOwn(cut, name)) return value;
    const within = nested === undefined ? undefined : memberOf(nested, cut, name, types);
    return keptValue(within, [newer[name], cut[name], value], types);
  });
  return { ...Object.fromEntries(unknown), ...kept };
}

/** Elements that are as they were, wherever in the list, are those of the newer version. */
function keptElements(
  newer: readonly unknown[],
  cut: readonly unknown[],
  changed: readonly unknown[],
): readonly unknown[] {
  const places = new Map<string, number[]>();
  for (const [at, element] of cut.entries()) {
    const text = canonicalJson(element);
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  }
  for (const known of places.values()) known.reverse();
  return changed.map((element) => {
    const at = places.get(canonicalJson(element))?.pop();
    return at === undefined ? element : newer[at];
  });
}

/** Whether a version knows a member of an object. */
function mayHave(nested: Nested, value: Members, name: string, types: NestedTypes): boolean {
  const { names, all = [], either, type } = nested;
  if (names !== undefined && !names.includes(name)) return false;
  if (!all.every((one) => mayHave(one, value, name, types))) return false;
  const named = type === undefined ? undefined : own(types, type);
  if (named !== undefined && !mayHave(named, value, name, types)) return false;
  const forms = fittingForms(either ?? [], value);
  return forms.length === 0 || forms.some(({ is }) => mayHave(is, value, name, types));
}

/** What is known within a member of an object. */
function memberOf(
  nested: Nested,
  value: Members,
  name: string,
  types: NestedTypes,
): Nested | undefined {
  const { members, others } = nested;
  return joinNested(own(members, name) ?? others, nested, value, types, (one) =>
    memberOf(one, value, name, types),
  );
}

function itemsOf(
  nested: Nested,
  value: readonly unknown[],
  types: NestedTypes,
): Nested | undefined {
  return joinNested(nested.items, nested, value, types, (one) => itemsOf(one, value, types));
}

/** What a version knows by itself, and by what is known besides. */
function joinNested(
  itself: Nested | undefined,
  { all = [], either = [], type }: Nested,
  value: object,
  types: NestedTypes,
  within: (nested: Nested) => Nested | undefined,
): Nested | undefined {
  const named = type === undefined ? undefined : own(types, type);
  const forms = fittingForms(either, value).map(({ is }) => ({ is: within(is) ?? {} }));
  const parts = [
    itself,
    ...all.map(within),
    named === undefined ? undefined : within(named),
    forms.length === 0 ? undefined : { either: forms },
  ].filter((part) => part !== undefined);
  return parts.length > 1 ? { all: parts } : parts[0];
}

/** The forms of alternatives that a value may have, to the last. */
function formsOf(nested: Nested | undefined, value: Members, types: NestedTypes): unknown {
  if (nested === undefined) return [];
  const { all = [], either = [], type } = nested;
  return [
    either.map((form) => (mayBe(form, value) ? formsOf(form.is, value, types) : null)),
    ...all.map((one) => formsOf(one, value, types)),
    ...(type === undefined ? [] : [formsOf(own(types, type), value, types)]),
  ];
}

function fittingForms(forms: readonly NestedForm[], value: object): readonly NestedForm[] {
  return forms.filter((form) => mayBe(form, value));
}

function mayBe({ of, when = {} }: NestedForm, value: object): boolean {
  if (of !== undefined && (of === "lists") !== Array.isArray(value)) return false;
  return Object.entries(when).every(([name, { values, canLack }]) => {
    if (!isObject(value) || !Object.hasOwn(value, name)) return canLack;
    const member = value[name];
    return values === null || values.some((one) => one === member);
  });
}

function mappedMembers(
  members: Members,
  change: (value: unknown, name: string) => unknown,
): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, change(value, name)]),
  );
}
