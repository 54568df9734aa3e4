// Values of a statement: its parameters, and lists and records of them as rows.
import type { FieldReference } from "../../../query/fields.js";

export type SqlValue = string | number | boolean | null | readonly SqlValue[];

/** Collects parameters while SQL is printed: `add` returns the placeholder of a value. */
export interface ParameterSink {
  add(value: SqlValue): string;
}

/** Types of the members of records. A `json` value is given as JSON text. */
export type RecordType = "integer" | "text" | "uuid" | "boolean" | "timestamp" | "json";

export interface ValueDialect {
  /** The placeholder of the parameter at a position, counted from 1. */
  placeholder(position: number): string;
  /** A list of operands as one parameter value. */
  list(values: readonly SqlValue[]): SqlValue;
  /** The list in the placeholder as rows, for `FROM`, and the expression of a row's value. */
  listRows(element: FieldReference, placeholder: string): readonly [string, string];
  /** The condition that the field's value is in the list in the placeholder. */
  isIn(field: FieldReference, placeholder: string): string;
  /**
   * Records as rows `w` with these members as columns, for `FROM`. The parameter is the text from
   * `recordsText`.
   */
  records(members: Readonly<Record<string, RecordType>>, placeholder: string): string;
  /** A placeholder that a SELECT returns as a value, with the type of that value. */
  typed(type: RecordType, placeholder: string): string;
  /** A placeholder with JSON text, converted to the type of a body. */
  json(placeholder: string): string;
}
