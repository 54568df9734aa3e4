// How SQL is printed for SQLite (json1 functions, RFC 3339 text as dates, 0 and 1 as booleans).
import { sqliteField } from "../../contract/fields.js";
import { quoted, type Dialect } from "../sql/session.js";

export const sqliteDialect: Dialect = {
  placeholder: (position) => `?${position}`,
  field: ({ path, isColumn }) => (isColumn ? quoted(path) : sqliteField(path)),
  operand: (_field, placeholder) => placeholder,
  isIn: (field, placeholder) =>
    `${sqliteDialect.field(field)} IN (SELECT "value" FROM json_each(${placeholder}))`,
  list: (values) => JSON.stringify(values),
  json: (placeholder) => placeholder,
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "body"`,
  readRow: (row) => ({
    id: String(row["id"]),
    rev: Number(row["rev"]),
    createdAt: String(row["created_at"]),
    lastUpdateAt: String(row["last_update_at"]),
    isDeleted: row["is_deleted"] === 1,
    body: String(row["body"]),
  }),
};
