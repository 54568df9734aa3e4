// Shapes of stored documents: rows of an older version of the registry are updated when they are
// read, and rows of a newer one, which a rollout has begun to write, are cut to what this version
// declares.
import { cutNested, keptNested, type NestedMembers } from "./nested-members.js";

type Members = Readonly<Record<string, unknown>>;

/** How a shape differs from the one before it. */
export interface ShapeStep {
  /** Members that were added, with the values that older documents get for them. */
  readonly adds: Members;
  /** Members that were removed. */
  readonly drops: readonly string[];
  /**
   * Members that functions of the author's compute from others; `Converters` has the functions by
   * the same names.
   */
  readonly converts?: Readonly<Record<string, Conversion>>;
  /** Whether the version before may put back what was removed, because it may add it to any row. */
  readonly comesBack?: true;
}

/** How a member is computed from another one. */
export interface Conversion {
  /** The name in rows of the member that it is computed from. */
  readonly from: string;
  /** The function, as file#export. */
  readonly by: string;
  /** The type of the function's argument, in TypeScript; null stands for an absent member. */
  readonly takes: string;
}

/**
 * Functions that compute members of older rows, by the members' names in rows; each is named when
 * it is called. Pure: the same value gives the same result.
 */
export type Converters = Readonly<Record<string, () => (value: never) => unknown>>;

/** How a renamed member is stored: rows, and earlier versions, use its first name. */
export interface StoredMember {
  /** Its name in rows. */
  readonly name: string;
  /** For an enumeration: the names in rows of its renamed values. */
  readonly values?: Readonly<Record<string, string>>;
}

/**
 * The shape of a document type in this version of the registry. Members have their names in rows.
 */
export interface Shape {
  /** Members that bodies may have; null if a body may have any. */
  readonly members: readonly string[] | null;
  /**
   * Members that have another name, or other names of values, in rows than in documents, by their
   * names in documents.
   */
  readonly stored?: Readonly<Record<string, StoredMember>>;
  /**
   * Members that rows keep for the version before, with the values that new ones get; documents
   * don't have them.
   */
  readonly kept?: Members;
  /** Members that objects within those may have; absent if nothing is known of them. */
  readonly nested?: NestedMembers;
  /** The steps from the first shape to this one. */
  readonly steps: readonly ShapeStep[];
}

/** The shape of documents of which nothing is known but what they have now. */
export const firstShape: Shape = { members: null, steps: [] };

/** The number of the shape: 1, and one more for each step. */
export function shapeNumber({ steps }: Shape): number {
  return steps.length + 1;
}

/** Members that some step computes from others. */
export function conversionsIn({ steps }: Shape): Readonly<Record<string, Conversion>> {
  return Object.fromEntries(steps.flatMap(({ converts = {} }) => Object.entries(converts)));
}

/** The names in documents of the members of a shape, in its order. */
export function declaredMembers({ members, stored = {} }: Shape): readonly string[] {
  const called = new Map(Object.entries(stored).map(([member, { name }]) => [name, member]));
  return (members ?? []).map((name) => called.get(name) ?? name);
}

/**
 * A member that documents of shapes before `since` answer with another value than the stored one.
 */
export interface LateMember {
  readonly member: string;
  readonly since: number;
  readonly value: unknown;
  /**
   * Whether older rows may hold a value from before the member was dropped, which no longer counts.
   */
  readonly isBack: boolean;
}

/**
 * The value that older documents answer for a member of the shape; undefined if that is the stored
 * one.
 */
export function lateMember({ steps }: Shape, member: string): LateMember | undefined {
  const at = steps.findLastIndex(({ adds }) => Object.hasOwn(adds, member));
  const value = steps[at]?.adds[member];
  if (value === undefined) return undefined;
  const isBack = steps.slice(0, at + 1).some(({ drops }) => drops.includes(member));
  // A member that was never stored reads as null anyway.
  return value === null && !isBack ? undefined : { member, since: at + 2, value, isBack };
}

/** Turns a body of an older shape into one of this shape. Pure, provided the converters are. */
export function broughtUp(
  shape: Shape,
  from: number,
  body: Members,
  converters: Converters = {},
): Members {
  let members = body;
  for (const { adds, drops, converts = {} } of shape.steps.slice(from - 1)) {
    const kept = Object.entries(members).filter(([name]) => !drops.includes(name));
    const made = Object.entries(converts).map(([name, { from: old }]) => [
      name,
      converters[name]?.()((members[old] ?? null) as never),
    ]);
    members = { ...adds, ...Object.fromEntries(kept), ...Object.fromEntries(made) };
  }
  return cutTo(shape, {}, members);
}

/**
 * Whether rows of this shape may have what it doesn't, because the version before has put it there.
 */
export function mayHaveMore({ steps }: Shape): boolean {
  return steps.at(-1)?.comesBack === true;
}

/**
 * Cuts a body of a newer shape to the members that this shape declares; missing ones get their
 * defaults.
 */
export function cutTo({ members, nested }: Shape, defaults: Members, body: Members): Members {
  const within = nested === undefined ? body : cutNested(nested, body);
  if (members === null) return { ...defaults, ...within };
  const known = members.flatMap((name): readonly (readonly [string, unknown])[] => {
    if (Object.hasOwn(within, name)) return [[name, within[name]]];
    return Object.hasOwn(defaults, name) ? [[name, defaults[name]]] : [];
  });
  return Object.fromEntries(known);
}

/**
 * Puts the values of a body that was cut from a newer one, and then changed, back into the newer
 * one: what this shape doesn't know stays, also within members, and members that the newer shape
 * has dropped don't come back. Members that the cut lacks as well are no such members: nothing was
 * known of them, so they are set.
 */
export function changedIn(
  { nested }: Shape,
  [newer, cut, changed]: readonly [newer: Members, cut: Members, changed: Members],
): Members {
  const unknown = Object.entries(newer).filter(([name]) => !Object.hasOwn(cut, name));
  const known = Object.entries(
    nested === undefined ? changed : keptNested(nested, [newer, cut, changed]),
  ).filter(([name]) => Object.hasOwn(newer, name) || !Object.hasOwn(cut, name));
  return { ...Object.fromEntries(unknown), ...Object.fromEntries(known) };
}
