// Shapes of stored documents: rows of an older version of the registry are brought up where they are read, and rows of a
// newer one, which a rollout has begun to write, are cut to what this version declares.

type Members = Readonly<Record<string, unknown>>;

/** What a shape has otherwise than the one before it. */
export interface ShapeStep {
  /** Members that every document has from here on, with the values of those that lack them. */
  readonly adds: Members;
  /** Members that are gone. */
  readonly drops: readonly string[];
  /** Members that are made of others by functions of the author's, which `Converters` has by the same names. */
  readonly converts?: Readonly<Record<string, Conversion>>;
}

/** How a member is made of another one. */
export interface Conversion {
  /** What rows call the member that it is made of. */
  readonly from: string;
  /** The function, as file#export. */
  readonly by: string;
  /** What the function is given, in TypeScript; null where the member was absent. */
  readonly takes: string;
}

/** Functions that make members of older rows, by what rows call these. Pure: the same value gives the same. */
export type Converters = Readonly<Record<string, (value: never) => unknown>>;

/** How a member is stored that was called otherwise once: rows, and the versions before, know it as it was. */
export interface StoredMember {
  /** What it is called in rows. */
  readonly name: string;
  /** Of an enumeration: what values are called in rows, where that is otherwise. */
  readonly values?: Readonly<Record<string, string>>;
}

/** The shape of a type of documents, as this version of the registry has it. Members are named as rows name them. */
export interface Shape {
  /** Members that bodies may have; null where a body may have any. */
  readonly members: readonly string[] | null;
  /** Members that rows name otherwise than documents do, or whose values they do, by what documents call them. */
  readonly stored?: Readonly<Record<string, StoredMember>>;
  /** What led here from the first shape. */
  readonly steps: readonly ShapeStep[];
}

/** The shape of documents of which nothing is known but what they have now. */
export const firstShape: Shape = { members: null, steps: [] };

/** The number of the shape: 1, and one more for each step. */
export function shapeNumber({ steps }: Shape): number {
  return steps.length + 1;
}

/** Members that are made of others somewhere on the way. */
export function conversionsIn({ steps }: Shape): Readonly<Record<string, Conversion>> {
  return Object.fromEntries(steps.flatMap(({ converts = {} }) => Object.entries(converts)));
}

/** What documents of a shape call their members, in the order of the shape. */
export function declaredMembers({ members, stored = {} }: Shape): readonly string[] {
  const called = new Map(Object.entries(stored).map(([member, { name }]) => [name, member]));
  return (members ?? []).map((name) => called.get(name) ?? name);
}

/** A member that documents of shapes before `since` have with another value than what is stored there. */
export interface LateMember {
  readonly member: string;
  readonly since: number;
  readonly value: unknown;
  /** Whether older rows may hold what was dropped before, which counts no more. */
  readonly isBack: boolean;
}

/** What older documents have for a member of the shape; undefined where that is what is stored. */
export function lateMember({ steps }: Shape, member: string): LateMember | undefined {
  const at = steps.findLastIndex(({ adds }) => Object.hasOwn(adds, member));
  const value = steps[at]?.adds[member];
  if (value === undefined) return undefined;
  const isBack = steps.slice(0, at + 1).some(({ drops }) => drops.includes(member));
  // What was never stored is null already.
  return value === null && !isBack ? undefined : { member, since: at + 2, value, isBack };
}

/** A body of an older shape, as one of this shape; a pure function of both, as far as the converters are. */
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
      converters[name]?.((members[old] ?? null) as never),
    ]);
    members = { ...adds, ...Object.fromEntries(kept), ...Object.fromEntries(made) };
  }
  return members;
}

/** A body of a newer shape with the members that this shape declares; what it lacks has its default. */
export function cutTo({ members }: Shape, defaults: Members, body: Members): Members {
  if (members === null) return { ...defaults, ...body };
  const known = members.flatMap((name): readonly (readonly [string, unknown])[] => {
    if (Object.hasOwn(body, name)) return [[name, body[name]]];
    return Object.hasOwn(defaults, name) ? [[name, defaults[name]]] : [];
  });
  return Object.fromEntries(known);
}

/**
 * The newer body with the values of one that was cut from it and changed: members that this shape does not know stay,
 * and members that the newer shape has given up do not come back.
 */
export function changedIn(newer: Members, cut: Members): Members {
  const known = Object.entries(cut).filter(([name]) => Object.hasOwn(newer, name));
  return { ...newer, ...Object.fromEntries(known) };
}
