// How SQL is printed for SQLite (json1 functions, RFC 3339 text as dates, 0 and 1 as booleans).
import { sqliteBody, sqliteDocumentField, sqliteField, sqlitePath } from "../../contract/fields.js";
import type { StoredField } from "../../contract/stored-members.js";
import type { FieldReference } from "../../query/fields.js";
import { quoteName, type Dialect } from "../sql/session.js";
import { statistic } from "./statistics.js";
import { truncateTime, zoneOffsets } from "./time-zone.js";
import { globOf } from "./glob.js";
import {
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
  matchText,
  wordsLike,
} from "./full-text.js";

const isBodyNumber = ({ type, isColumn }: FieldReference): boolean =>
  !isColumn && (type === "number" || type === "integer");

const field = (of: FieldReference): string => {
  const { path, isColumn, isElement } = of;
  if (isElement === true) return path === "" ? `e."value"` : sqliteField(path, `e."value"`);
  return isColumn ? quoteName(path) : sqliteDocumentField(storedOf(of));
};

const storedOf = ({ path, stored = { path } }: FieldReference): StoredField => stored;

/** The arguments of JSON functions that read a field: the body and the path. */
const place = (of: FieldReference): string => {
  const { path, late } = storedOf(of);
  return `${sqliteBody(late)}, ${sqlitePath(path)}`;
};

export const sqliteDialect: Dialect = {
  placeholder: (position) => `?${position}`,
  field,
  // SQLite's own parser has read the stored number. The operand must go through it, too, or the
  // last bit may differ.
  operand: (of, placeholder) =>
    isBodyNumber(of) ? `json_extract(${placeholder}, '$')` : placeholder,
  bind: (of, value) => (isBodyNumber(of) ? JSON.stringify(value) : value),
  comparable: field,
  // The `+` removes the column's affinity. With it, SQLite would use no index on a body field for
  // the comparison.
  idText: (row) => `+${row}."id"`,
  isNull: (of, isNull) => `${field(of)} IS ${isNull ? "" : "NOT "}NULL`,
  isArray: (of) => `json_type(${place(of)}) IS 'array'`,
  arrayLength: (of) => `json_array_length(${place(of)})`,
  elements: (of) => `json_each(${place(of)}) e`,
  pattern: globOf,
  matches: (of, placeholder) => `${field(of)} GLOB ${placeholder}`,
  isIn: (of, placeholder) => `${field(of)} IN (SELECT "value" FROM json_each(${placeholder}))`,
  listRows: (_element, placeholder) => [`json_each(${placeholder}) w`, `w."value"`],
  records: (members, placeholder) => {
    const columns = Object.keys(members).map(
      (member, at) => `"value" ->> ${at} AS ${quoteName(member)}`,
    );
    return `(SELECT ${columns.join(", ")} FROM json_each(${placeholder})) w`;
  },
  isRowOf: (name, from) => `rowid IN (SELECT ${name}.rowid FROM ${from})`,
  // By rowid, which looks up each record. Comparing the columns could read all rows of a tenant,
  // and all records for each.
  isRecorded: (table, isRow) =>
    `r.rowid = (SELECT k.rowid FROM ${quoteName(table)} AS k WHERE ${isRow("k")})`,
  typed: (_type, placeholder) => placeholder,
  list: (values) => JSON.stringify(values),
  bodyBytes: `octet_length("body")`,
  tableRows: (table) => `SELECT max(rowid) AS "rows" FROM ${quoteName(table)}`,
  json: (placeholder) => placeholder,
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"`,
  skipLocked: "",
  now: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
  rowKey: "rowid",
  zonesNeedRange: true,
  zoneNames: null,
  zone: zoneOffsets,
  truncated: truncateTime,
  statistic,
  matching: matchText,
  trigrams: null,
  wordsLike,
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
  rowKeys: () => [{ column: "rowid", type: "integer" }],
  holdRows: "",
  holdName: "",
  shareRows: "",
  seizeRows: "",
};
