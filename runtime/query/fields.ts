// The fields a query may name (decisions.md "Query language").
import type { Fields, FieldType } from "../contract/fields.js";

/** A field as a query names it. A column is a base field; any other field is a path into the body. */
export interface FieldReference {
  readonly path: string;
  readonly type: FieldType;
  readonly isColumn: boolean;
}

/** The queryable fields of a document: its own, and columns. */
export class FieldSet {
  readonly #fields: ReadonlyMap<string, FieldReference>;

  constructor(fields: Fields, columns: Fields) {
    const references = new Map<string, FieldReference>();
    for (const [path, type] of Object.entries(fields))
      references.set(path, { path, type, isColumn: false });
    for (const [path, type] of Object.entries(columns))
      references.set(path, { path, type, isColumn: true });
    this.#fields = references;
  }

  find(path: string): FieldReference | undefined {
    return this.#fields.get(path);
  }

  get id(): FieldReference {
    return { path: "id", type: "uuid", isColumn: true };
  }
}

/** Whether values of the type have an order and can be compared for equality as one scalar. */
export function isScalar(type: FieldType): boolean {
  return type !== "object" && !type.endsWith("[]");
}
