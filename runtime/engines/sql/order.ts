// The position and the order of a query as SQL: every value is a parameter, every field is a
// declared one.
import type { FieldDialect } from "./dialect/fields.js";
import type { Position, SortKey } from "../../query/ast.js";
import { operand, type SqlParameters } from "./parameters.js";
import type { SqlValue, ValueDialect } from "./dialect/values.js";

/** The condition for the rows after a position, in the order of the sort keys. */
export function afterCondition(
  sorts: readonly SortKey[],
  position: Position,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
): string {
  const alternatives = sorts.map((key, index) => {
    const equal = sorts
      .slice(0, index)
      .map((earlier, at) => equals(earlier, position[at] ?? null, dialect, parameters));
    return `(${[...equal, beyond(key, position[index] ?? null, dialect, parameters)].join(" AND ")})`;
  });
  return `(${alternatives.join(" OR ")})`;
}

function equals(
  key: SortKey,
  value: SqlValue,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
): string {
  const field = dialect.field(key.field);
  if (value === null) return `${field} IS NULL`;
  return `${field} = ${operand(key.field, value, dialect, parameters)}`;
}

function beyond(
  key: SortKey,
  value: SqlValue,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
): string {
  const field = dialect.field(key.field);
  if (value === null) return key.nulls === "first" ? `${field} IS NOT NULL` : "FALSE";
  const operator = key.direction === "asc" ? ">" : "<";
  const past = `${field} ${operator} ${operand(key.field, value, dialect, parameters)}`;
  return key.nulls === "last" && !isNeverNull(key) ? `(${past} OR ${field} IS NULL)` : past;
}

/** `ORDER BY` with nulls first or last as each key says, the same on every engine. */
export function orderBy(sorts: readonly SortKey[], dialect: FieldDialect): string {
  const keys = sorts.map((key) => {
    const nulls = isNeverNull(key) ? "" : ` NULLS ${key.nulls.toUpperCase()}`;
    return `${dialect.field(key.field)} ${key.direction.toUpperCase()}${nulls}`;
  });
  return `ORDER BY ${keys.join(", ")}`;
}

function isNeverNull(key: SortKey): boolean {
  return key.field.isColumn && key.field.isNullable !== true;
}
