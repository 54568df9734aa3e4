// The fields a query may name (decisions.md "Query language").
import type { Decimals, Elements, Enums, Fields, FieldType } from "../contract/fields.js";
import { firstShape, type Shape } from "../contract/shapes.js";
import { storedField, type StoredField } from "../contract/stored-members.js";
import { elementType } from "../contract/query-operators.js";
import type { RelatedRows } from "./related-rows.js";

/**
 * A field as a query names it: a column, a path into the body, or the element of the array that is
 * being looked at, whole (path "") or one of its members.
 */
export interface FieldReference {
  readonly path: string;
  readonly type: FieldType;
  readonly isColumn: boolean;
  readonly isElement?: boolean;
  /** Of a column: whether it can be null, as what is computed can. */
  readonly isNullable?: boolean;
  /** Of an `enum`, or the elements of an `enum[]`: its values. */
  readonly values?: readonly string[];
  /** Of a decimal: its places. */
  readonly places?: number;
  /** Of a body field: where rows have it. */
  readonly stored?: StoredField;
}

/** The id of every document. */
export const idField = {
  path: "id",
  type: "uuid",
  isColumn: true,
} as const satisfies FieldReference;

/** The principal that created a document. */
export const ownerField = {
  path: "owner_id",
  type: "string",
  isColumn: true,
} as const satisfies FieldReference;

/** A way to rows of another type. */
export interface Relation {
  readonly rows: RelatedRows;
  /** What may be asked of them. */
  readonly fields: FieldSet;
  /** The field that names: of this document where it leads on, of theirs where they name it. */
  readonly field: FieldReference;
}

/** The ways that lead on from a document, and back to it. */
export interface Relations {
  /** What the member of a document names, given the field that the member is. */
  to(field: FieldReference): Relation | undefined;
  /** Who names it: `comments.article`. */
  from(name: string): Relation | undefined;
}

/** What a set of fields is made of. */
export interface FieldSetParts {
  readonly fields: Fields;
  readonly columns: Fields;
  readonly elements?: Elements | undefined;
  readonly enums?: Enums | undefined;
  readonly decimals?: Decimals | undefined;
  readonly shape?: Shape;
  readonly relations?: Relations;
}

/** The queryable fields of a document: its own, columns, and those that references lead to. */
export class FieldSet {
  readonly #fields: ReadonlyMap<string, FieldReference>;
  readonly #elements: Elements;
  readonly #enums: Enums;
  readonly #relations: Relations | undefined;

  constructor({
    fields,
    columns,
    elements = {},
    enums = {},
    decimals = {},
    shape = firstShape,
    relations,
  }: FieldSetParts) {
    const references = new Map<string, FieldReference>();
    for (const [path, type] of Object.entries(fields)) {
      references.set(path, {
        path,
        type,
        isColumn: false,
        ...valuesAt(enums, path),
        ...(Object.hasOwn(decimals, path) ? { places: decimals[path] } : {}),
        stored: storedField(shape, path),
      });
    }
    for (const [path, type] of Object.entries(columns))
      references.set(path, { path, type, isColumn: true });
    this.#fields = references;
    this.#elements = elements;
    this.#enums = enums;
    this.#relations = relations;
  }

  find(path: string): FieldReference | undefined {
    return this.#fields.get(path);
  }

  /** A field of what a member names: `project.archived`. */
  through(path: string): { readonly to: Relation; readonly field: FieldReference } | undefined {
    const dot = path.indexOf(".");
    const to = dot < 0 ? undefined : this.#leadsToOne(path.slice(0, dot));
    const field = to?.fields.find(path.slice(dot + 1));
    return to === undefined || field === undefined ? undefined : { to, field };
  }

  /** Where a member leads. */
  leads(member: string): Relation | undefined {
    const field = this.#fields.get(member);
    return field === undefined ? undefined : this.#relations?.to(field);
  }

  /** As `leads`; undefined for a list of references, of which filters and sorts ask for the ids. */
  #leadsToOne(member: string): Relation | undefined {
    const to = this.leads(member);
    return to?.field.type.endsWith("[]") === true ? undefined : to;
  }

  /** Documents that name those of these fields: `comments.article`. */
  naming(name: string): Relation | undefined {
    return this.#relations?.from(name);
  }

  /** Documents that name what a member names: `author.follows.followed`. */
  namingThrough(name: string): { readonly to: Relation; readonly from: Relation } | undefined {
    const dot = name.indexOf(".");
    const to = dot < 0 ? undefined : this.#leadsToOne(name.slice(0, dot));
    const from = to?.fields.naming(name.slice(dot + 1));
    return to === undefined || from === undefined ? undefined : { to, from };
  }

  /** The fields below a path, by what follows it. */
  below(path: string): readonly FieldReference[] {
    return [...this.#fields.values()].filter((field) => field.path.startsWith(`${path}.`));
  }

  /** A member of the objects in an array. */
  member(array: string, path: string): FieldReference | undefined {
    const members = this.#elements[array] ?? {};
    const type = Object.hasOwn(members, path) ? members[path] : undefined;
    if (type === undefined) return undefined;
    const values = valuesAt(this.#enums, `${array}[].${path}`);
    return { path, type, isColumn: false, isElement: true, ...values };
  }

  get id(): FieldReference {
    return idField;
  }
}

function valuesAt(enums: Enums, path: string): { readonly values?: readonly string[] } {
  const values = Object.hasOwn(enums, path) ? enums[path] : undefined;
  return values === undefined ? {} : { values };
}

/** The element of an array of scalars. */
export function elementOf({
  type,
  values,
}: Pick<FieldReference, "type" | "values">): FieldReference {
  return {
    path: "",
    type: elementType(type),
    isColumn: false,
    isElement: true,
    ...(values === undefined ? {} : { values }),
  };
}
