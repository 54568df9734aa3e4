// Plain copies of what an author's code returns: generated modules name the members that a copy keeps. Each member is read
// once, so the value that is checked is the value that is sent, whatever its getters and prototypes do.

/** Makes the plain copy of one value. */
export type Cut = (value: unknown) => unknown;

/** A compiled check of a copy. */
export type Check = (value: unknown) => boolean;

type Members = Readonly<Record<string, unknown>>;

/** The value as JSON has it: what `toJSON` gives where there is one, as `JSON.stringify` would ask it; null for no number. */
function told(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, "") as unknown) : value;
}

/** The value if it is an object whose members can be copied, otherwise undefined. */
function object(value: unknown): Members | undefined {
  const from = told(value);
  if (typeof from !== "object" || from === null || Array.isArray(from)) return undefined;
  return from as Members;
}

/** A copy of everything that JSON would print. */
function plain(value: unknown): unknown {
  const from = told(value);
  if (typeof from === "function" || typeof from === "symbol") return undefined;
  if (typeof from !== "object" || from === null) return from;
  return Array.isArray(from) ? list(from, plain) : members(from, {}, plain);
}

/** An array with a copy of each item; an item that JSON can't express is null, as with `JSON.stringify`. */
function list(value: unknown, item: Cut): unknown {
  const from = told(value);
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

/** An object with the known members, those that a pattern names, and the others where `rest` copies them. */
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

/** The copy that one of several types makes and accepts; where several do, the one that keeps most. */
function either(value: unknown, options: readonly (readonly [Cut, Check])[]): unknown {
  const copies = options.flatMap(([cut, check]) => {
    const copy = cut(value);
    return check(copy) ? [copy] : [];
  });
  const [first, ...others] = copies;
  if (others.length === 0) return copies.length === 0 ? plain(value) : first;
  const length = (copy: unknown): number => JSON.stringify(copy)?.length ?? 0;
  return copies.reduce((kept, copy) => (length(copy) > length(kept) ? copy : kept));
}

/** What generated modules copy answers with. */
export const cut = { told, object, plain, list, tuple, members, either };
