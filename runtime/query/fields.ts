// The fields a query may name (decisions.md "Query language").
import type { Elements, Fields, FieldType } from "../contract/fields.js";

/**
 * A field as a query names it: a column, a path into the body, or the element of the array that is being looked at,
 * whole (path "") or one of its members.
 */
export interface FieldReference {
  readonly path: string;
  readonly type: FieldType;
  readonly isColumn: boolean;
  readonly isElement?: boolean;
  /** Of a column: whether it can be null, as what is computed can. */
  readonly isNullable?: boolean;
}

/** The queryable fields of a document: its own, and columns. */
export class FieldSet {
  readonly #fields: ReadonlyMap<string, FieldReference>;
  readonly #elements: Elements;

  constructor(fields: Fields, columns: Fields, elements: Elements = {}) {
    const references = new Map<string, FieldReference>();
    for (const [path, type] of Object.entries(fields))
      references.set(path, { path, type, isColumn: false });
    for (const [path, type] of Object.entries(columns))
      references.set(path, { path, type, isColumn: true });
    this.#fields = references;
    this.#elements = elements;
  }

  find(path: string): FieldReference | undefined {
    return this.#fields.get(path);
  }

  /** The fields below a path, by what follows it. */
  below(path: string): readonly FieldReference[] {
    return [...this.#fields.values()].filter((field) => field.path.startsWith(`${path}.`));
  }

  /** A member of the objects in an array. */
  member(array: string, path: string): FieldReference | undefined {
    const members = this.#elements[array] ?? {};
    const type = Object.hasOwn(members, path) ? members[path] : undefined;
    return type === undefined ? undefined : { path, type, isColumn: false, isElement: true };
  }

  get id(): FieldReference {
    return { path: "id", type: "uuid", isColumn: true };
  }
}

/** The element of an array. */
export function elementOf(type: FieldType): FieldReference {
  return { path: "", type, isColumn: false, isElement: true };
}
