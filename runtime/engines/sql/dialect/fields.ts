// Expressions of declared fields, and conditions on them.
import type { FieldReference } from "../../../query/fields.js";
import type { Pattern } from "../../../query/pattern.js";
import type { SqlValue } from "./values.js";

export interface FieldDialect {
  /**
   * The expression of a declared field. The field's indexes have the same text, so that they serve
   * it.
   */
  field(field: FieldReference): string;
  /** The placeholder, converted so that it compares correctly with the field. */
  operand(field: FieldReference, placeholder: string): string;
  /** The value to bind for an operand that is compared with the field. */
  bind(field: FieldReference, value: SqlValue): SqlValue;
  /**
   * The expression of a field in a form in which columns and body fields can be compared with each
   * other.
   */
  comparable(field: FieldReference): string;
  /** The id of the row with this alias, in the form in which body fields refer to it. */
  idText(row: string): string;
  /** The condition that the field is absent or null; if `isNull` is false, that it is neither. */
  isNull(field: FieldReference, isNull: boolean): string;
  /** The condition that the field is an array. */
  isArray(field: FieldReference): string;
  /** The number of elements of a field that is an array. */
  arrayLength(field: FieldReference): string;
  /**
   * The elements of an array as rows `e`, for `FROM`. Check `isArray` too: on SQLite, other values
   * give rows too.
   */
  elements(field: FieldReference): string;
  /** The parameter of `matches` for a pattern, in the engine's own pattern language. */
  pattern(pattern: Pattern): string;
  /** The condition that the field's text matches the pattern in the placeholder. */
  matches(field: FieldReference, placeholder: string): string;
}
