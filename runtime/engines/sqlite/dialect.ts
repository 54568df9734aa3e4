// How SQL is printed for SQLite (json1 functions, RFC 3339 text as dates, 0 and 1 as booleans).
import { sqliteField } from "../../contract/fields.js";
import type { FieldReference } from "../../query/fields.js";
import { quoted, type Dialect } from "../sql/session.js";

const isBodyNumber = ({ type, isColumn }: FieldReference): boolean =>
  !isColumn && (type === "number" || type === "integer");

export const sqliteDialect: Dialect = {
  placeholder: (position) => `?${position}`,
  field: ({ path, isColumn }) => (isColumn ? quoted(path) : sqliteField(path)),
  // A stored number was read by SQLite's own parser; an operand goes the same way, or the last bit can differ.
  operand: (field, placeholder) =>
    isBodyNumber(field) ? `json_extract(${placeholder}, '$')` : placeholder,
  bind: (field, value) => (isBodyNumber(field) ? JSON.stringify(value) : value),
  isNull: (field) => `${sqliteDialect.field(field)} IS NULL`,
  isIn: (field, placeholder) =>
    `${sqliteDialect.field(field)} IN (SELECT "value" FROM json_each(${placeholder}))`,
  list: (values) => JSON.stringify(values),
  json: (placeholder) => placeholder,
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"`,
  skipLocked: "",
};
