// Parameters of a statement, collected while it is printed.
import type { FieldDialect } from "./dialect/fields.js";
import type { FieldReference } from "../../query/fields.js";
import type { ParameterSink, SqlValue, ValueDialect } from "./dialect/values.js";

/** Collects parameters while SQL is printed. */
export class SqlParameters implements ParameterSink {
  readonly values: SqlValue[] = [];
  readonly #dialect: FieldDialect & ValueDialect;

  constructor(dialect: FieldDialect & ValueDialect) {
    this.#dialect = dialect;
  }

  /** Adds a value and returns its placeholder. */
  add(value: SqlValue): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length);
  }
}

/** Adds a value as a parameter; returns it as the operand of a comparison with the field. */
export function operand(
  field: FieldReference,
  value: SqlValue,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
): string {
  return dialect.operand(field, parameters.add(dialect.bind(field, value)));
}
