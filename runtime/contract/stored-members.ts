// Translates members and values between their names in documents and their names in rows. A rename
// in the registry leaves rows as they are, so that earlier and later versions read each other's
// rows.
import { lateMember, type LateMember, type Shape, type StoredMember } from "./shapes.js";

type Members = Readonly<Record<string, unknown>>;

/** Where a field of a body is stored, and how the stored value differs from the document's. */
export interface StoredField {
  /** The dotted path in a row's body. */
  readonly path: string;
  /** The value that documents of older shapes have. */
  readonly late?: LateMember;
  /** The names in documents of values that have other names in rows. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Where the field of a dotted path is stored. */
export function storedField(shape: Shape, path: string): StoredField {
  const [member = "", ...rest] = path.split(".");
  const stored = storedMember(shape, member);
  const name = stored?.name ?? member;
  const late = lateMember(shape, name);
  const values = rest.length === 0 ? stored?.values : undefined;
  return {
    path: [name, ...rest].join("."),
    ...(late === undefined ? {} : { late }),
    ...(values === undefined ? {} : { values: reverseNames(values) }),
  };
}

/** A member's name in rows. */
export function storedName(shape: Shape, member: string): string {
  return storedMember(shape, member)?.name ?? member;
}

/** The value of a field as a row has it: values of an enumeration may have other names there. */
export function storedValue(shape: Shape, path: string, value: unknown): unknown {
  return renameValue(storedMember(shape, path)?.values, value);
}

/** A member's name in documents; of one that no document has any more, its name in rows. */
export function declaredName({ stored = noneStored }: Shape, name: string): string {
  return declaredBy(stored).get(name)?.name ?? name;
}

/** Whether documents have their members and values as rows have them. */
export function isStoredAsDeclared({ stored, kept }: Shape): boolean {
  return stored === undefined && kept === undefined;
}

/** Members of a document as a row has them, without those that rows keep for others. */
export function asStored(shape: Shape, members: Members): Members {
  if (shape.stored === undefined) return members;
  return Object.fromEntries(
    Object.entries(members).map(([member, value]) => {
      const stored = storedMember(shape, member);
      return stored === undefined
        ? [member, value]
        : [stored.name, renameValue(stored.values, value)];
    }),
  );
}

/** Members of a row as a document has them. */
export function asDeclared(shape: Shape, members: Members): Members {
  if (isStoredAsDeclared(shape)) return members;
  const { stored = noneStored, kept = {} } = shape;
  const declared = declaredBy(stored);
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !Object.hasOwn(kept, name))
      .map(([name, value]) => {
        const known = declared.get(name);
        return known === undefined ? [name, value] : [known.name, renameValue(known.values, value)];
      }),
  );
}

/** Of a row, the members that it keeps for the version before. */
export function keptOf({ kept = {} }: Shape, members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(kept, name)));
}

const noneStored = {};

type Stored = NonNullable<Shape["stored"]>;
type Declared = ReadonlyMap<string, StoredMember>;

/**
 * The translation from rows to documents, computed once per shape because every row that is read
 * needs it.
 */
const waysBack = new WeakMap<Stored, Declared>();

/** The names in documents of members and values, by the members' names in rows. */
function declaredBy(stored: Stored): Declared {
  const known = waysBack.get(stored);
  if (known !== undefined) return known;
  const declared = new Map(
    Object.entries(stored).map(([member, { name, values }]) => [
      name,
      { name: member, ...(values === undefined ? {} : { values: reverseNames(values) }) },
    ]),
  );
  waysBack.set(stored, declared);
  return declared;
}

function storedMember({ stored }: Shape, member: string): StoredMember | undefined {
  return stored !== undefined && Object.hasOwn(stored, member) ? stored[member] : undefined;
}

function renameValue(
  values: Readonly<Record<string, string>> | undefined,
  value: unknown,
): unknown {
  const isKnown = values !== undefined && typeof value === "string" && Object.hasOwn(values, value);
  return isKnown ? values[value] : value;
}

function reverseNames(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([declared, stored]) => [stored, declared]));
}
