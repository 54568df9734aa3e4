// Members under the names and values that rows have for them, and back: what is renamed in the registry stays as it is in
// the database, so that the versions before and after read each other's rows.
import { lateMember, type LateMember, type Shape, type StoredMember } from "./shapes.js";

type Members = Readonly<Record<string, unknown>>;

/** Where a field of a body is stored, and how what is stored there differs from what documents have. */
export interface StoredField {
  /** The dotted path in a row's body. */
  readonly path: string;
  /** What documents of older shapes have there. */
  readonly late?: LateMember;
  /** What documents call the values that rows call otherwise. */
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
    ...(values === undefined ? {} : { values: reversed(values) }),
  };
}

/** What rows call a member. */
export function storedName(shape: Shape, member: string): string {
  return storedMember(shape, member)?.name ?? member;
}

/** Members of a document as a row has them. */
export function asStored(shape: Shape, members: Members): Members {
  if (shape.stored === undefined) return members;
  return Object.fromEntries(
    Object.entries(members).map(([member, value]) => {
      const stored = storedMember(shape, member);
      return stored === undefined ? [member, value] : [stored.name, named(stored.values, value)];
    }),
  );
}

/** Members of a row as a document has them. */
export function asDeclared(shape: Shape, members: Members): Members {
  if (shape.stored === undefined) return members;
  const declared = declaredBy(shape.stored);
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const known = declared.get(name);
      return known === undefined ? [name, value] : [known.name, named(known.values, value)];
    }),
  );
}

type Stored = NonNullable<Shape["stored"]>;
type Declared = ReadonlyMap<string, StoredMember>;

/** The way back, found once for each shape: every row that is read goes it. */
const waysBack = new WeakMap<Stored, Declared>();

/** What documents call members and values, by what rows call the members. */
function declaredBy(stored: Stored): Declared {
  const known = waysBack.get(stored);
  if (known !== undefined) return known;
  const declared = new Map(
    Object.entries(stored).map(([member, { name, values }]) => [
      name,
      { name: member, ...(values === undefined ? {} : { values: reversed(values) }) },
    ]),
  );
  waysBack.set(stored, declared);
  return declared;
}

function storedMember({ stored }: Shape, member: string): StoredMember | undefined {
  return stored !== undefined && Object.hasOwn(stored, member) ? stored[member] : undefined;
}

function named(values: Readonly<Record<string, string>> | undefined, value: unknown): unknown {
  const isKnown = values !== undefined && typeof value === "string" && Object.hasOwn(values, value);
  return isKnown ? values[value] : value;
}

function reversed(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([declared, stored]) => [stored, declared]));
}
