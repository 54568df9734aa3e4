// Plain copies of what an author's code returns: generated modules name the members that a copy
// keeps. Each member is read once, so the value that is checked is the value that is sent, whatever
// its getters and prototypes do.

/** Makes the plain copy of one value. */
export type Cut = (value: unknown) => unknown;

/** A compiled check of a copy. */
export type Check = (value: unknown) => boolean;

type Members = Readonly<Record<string, unknown>>;

/**
 * The value as JSON has it: what `toJSON` gives where there is one, as `JSON.stringify` would ask
 * it; null for no number.
 */
function toPlainValue(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, "") as unknown) : value;
}

/** The value if it is an object whose members can be copied, otherwise undefined. */
function object(value: unknown): Members | undefined {
  const from = toPlainValue(value);
  if (typeof from !== "object" || from === null || Array.isArray(from)) return undefined;
  return from as Members;
}

/** How many cuts are under way over what another cut has copied already. */
let copied = 0;

/**
 * Cuts a copy further. Its parts needn't be copied as a whole again, which nested types would do at
 * each level.
 */
function again(copy: unknown, further: Cut): unknown {
  copied += 1;
  try {
    return further(copy);
  } finally {
    copied -= 1;
  }
}

/** A copy of everything that JSON would print. */
function plain(value: unknown): unknown {
  if (copied > 0) return value;
  const from = toPlainValue(value);
  if (typeof from === "function" || typeof from === "symbol") return undefined;
  if (typeof from !== "object" || from === null) return from;
  return Array.isArray(from) ? list(from, plain) : members(from, {}, plain);
}

/**
 * A copy of a payload, for checks that refuse what isn't declared: `__proto__` is a name like
 * others in it, and not left out as it is of answers.
 */
export function plainPayload(value: unknown): unknown {
  const from = toPlainValue(value);
  if (typeof from !== "object" || from === null || Array.isArray(from))
    return Array.isArray(from) ? list(from, plainPayload) : plain(from);
  const copies = Object.keys(from).flatMap((name) => {
    const copy = plainPayload((from as Members)[name]);
    return copy === undefined ? [] : [[name, copy] as const];
  });
  // Members are defined, and not set.
  return Object.fromEntries(copies);
}

/**
 * An array with a copy of each item; an item that JSON can't express is null, as with
 * `JSON.stringify`.
 */
function list(value: unknown, item: Cut): unknown {
  const from = toPlainValue(value);
  if (!Array.isArray(from)) return plain(from);
  const to: unknown[] = [];
  for (let index = 0; index < from.length; index += 1) to.push(item(from[index]) ?? null);
  return to;
}

/** A list whose first items have a copy of their own each. */
function tuple(value: unknown, first: readonly Cut[], rest: Cut): unknown {
  let index = 0;
  return list(value, (item) => (first[index++] ?? rest)(item));
}

/**
 * An object with the known members, those that a pattern names, and the others where `rest` copies
 * them.
 */
function members(
  value: unknown,
  known: Readonly<Record<string, Cut>>,
  rest: Cut | null,
  patterns: readonly (readonly [RegExp, Cut])[] = [],
): unknown {
  const from = object(value);
  if (from === undefined) return plain(value);
  const to: Record<string, unknown> = {};
  const keep = (name: string, cut: Cut): void => {
    const copy = cut(from[name]);
    // Only the name that changes the prototype is special.
    if (copy !== undefined && name !== "__proto__") to[name] = copy;
  };
  for (const [name, cut] of Object.entries(known)) keep(name, cut);
  if (rest === null && patterns.length === 0) return to;
  for (const name of Object.keys(from)) {
    if (Object.hasOwn(known, name)) continue;
    const cut = patterns.find(([pattern]) => pattern.test(name))?.[1] ?? rest;
    if (cut !== null) keep(name, cut);
  }
  return to;
}

/**
 * What a value must be to be one of several types, so far as that can be seen before it is copied.
 */
export interface CutGuard {
  /** Whether lists may be. */
  readonly lists: boolean;
  /**
   * Whether objects may be, and the values of members: undefined is an absent one, true is any
   * other than that.
   */
  readonly objects: Readonly<Record<string, readonly unknown[] | true>> | false;
}

/** A type that a value may be of. */
export type CutBranch = readonly [guard: CutGuard, cut: Cut, check: Check];

/**
 * The copy that one of several types makes. A guard decides where it can; where several types are
 * possible, those that accept their copy, and among these the one that keeps most.
 */
function either(value: unknown, branches: readonly CutBranch[]): unknown {
  const from = toPlainValue(value);
  if (typeof from !== "object" || from === null) return plain(value);
  const possible = branches.filter(([guard]) => passes(from, guard));
  const [only, ...others] = possible.length > 0 ? possible : despiteUndeclared(from, branches);
  if (only === undefined) return plain(value);
  if (others.length === 0) return only[1](value);
  const copies = possible.flatMap(([, cut, check]) => {
    const copy = cut(value);
    return check(copy) ? [copy] : [];
  });
  if (copies.length === 0) return plain(value);
  const length = (copy: unknown): number => JSON.stringify(copy)?.length ?? 0;
  return copies.reduce((kept, copy) => (length(copy) > length(kept) ? copy : kept));
}

function passes(value: object, { lists, objects }: CutGuard): boolean {
  if (Array.isArray(value)) return lists;
  if (objects === false) return false;
  return Object.entries(objects).every(([name, allowed]) => {
    const member = toPlainValue((value as Members)[name]);
    return allowed === true ? member !== undefined : allowed.includes(member);
  });
}

/** The first type that fits if members are left out that it doesn't declare. */
function despiteUndeclared(value: object, branches: readonly CutBranch[]): readonly CutBranch[] {
  if (Array.isArray(value)) return [];
  const fitting = branches.find(([{ lists, objects }]) => {
    if (objects === false) return false;
    const declared = Object.entries(objects).filter(
      ([, allowed]) => allowed === true || allowed.some((each) => each !== undefined),
    );
    return passes(value, { lists, objects: Object.fromEntries(declared) });
  });
  return fitting === undefined ? [] : [fitting];
}

/** What generated modules copy answers with. */
export const cut = { told: toPlainValue, object, plain, list, tuple, members, again, either };
