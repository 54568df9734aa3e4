// How SQL is printed for PostgreSQL (jsonb bodies, timestamptz columns, text by code point).
import { postgresField, type FieldType } from "../../contract/fields.js";
import type { FieldReference } from "../../query/fields.js";
import { quoted, type Dialect } from "../sql/session.js";

export const postgresDialect: Dialect = {
  placeholder: (position) => `$${position}`,
  field: ({ path, type, isColumn }) => (isColumn ? quoted(path) : postgresField(path, type)),
  operand: (field, placeholder) => `${placeholder}::${sqlType(field)}`,
  bind: (_field, value) => value,
  // As text, so that a JSON null in an array or object member counts as null too.
  isNull: ({ path, isColumn }) =>
    `${isColumn ? quoted(path) : postgresField(path, "string")} IS NULL`,
  isIn: (field, placeholder) =>
    `${postgresDialect.field(field)} = ANY(${placeholder}::${sqlType(field)}[])`,
  list: (values) => values,
  json: (placeholder) => `${placeholder}::jsonb`,
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"`,
  skipLocked: " FOR UPDATE SKIP LOCKED",
};

const bodyTypes: Partial<Record<FieldType, string>> = {
  integer: "numeric",
  number: "numeric",
  boolean: "boolean",
};

const columnTypes: Readonly<Record<string, string>> = {
  id: "uuid",
  rev: "numeric",
  created_at: "timestamptz",
  last_update_at: "timestamptz",
  is_deleted: "boolean",
};

function sqlType(field: FieldReference): string {
  return (field.isColumn ? columnTypes[field.path] : bodyTypes[field.type]) ?? "text";
}
