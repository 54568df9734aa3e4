// How SQL is printed for SQLite (json1 functions, RFC 3339 text as dates, 0 and 1 as booleans).
import { sqliteBody, sqliteDocumentField, sqliteField, sqlitePath } from "../../contract/fields.js";
import type { StoredField } from "../../contract/stored-members.js";
import type { FieldReference } from "../../query/fields.js";
import type { AggregateDialect } from "../sql/dialect/aggregates.js";
import type { Dialect } from "../sql/dialect/dialect.js";
import type { FieldDialect } from "../sql/dialect/fields.js";
import type { LockDialect } from "../sql/dialect/locks.js";
import type { RowDialect } from "../sql/dialect/rows.js";
import type { SearchDialect } from "../sql/dialect/searches.js";
import type { ValueDialect } from "../sql/dialect/values.js";
import { quoteName } from "../sql/session.js";
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

const fields: FieldDialect = {
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
};

const values: ValueDialect = {
  placeholder: (position) => `?${position}`,
  list: (values) => JSON.stringify(values),
  listRows: (_element, placeholder) => [`json_each(${placeholder}) w`, `w."value"`],
  isIn: (of, placeholder) => `${field(of)} IN (SELECT "value" FROM json_each(${placeholder}))`,
  records: (members, placeholder) => {
    const columns = Object.keys(members).map(
      (member, at) => `"value" ->> ${at} AS ${quoteName(member)}`,
    );
    return `(SELECT ${columns.join(", ")} FROM json_each(${placeholder})) w`;
  },
  typed: (_type, placeholder) => placeholder,
  json: (placeholder) => placeholder,
};

const rows: RowDialect = {
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"`,
  rowKey: "rowid",
  insertBoth: null,
  rowKeys: () => [{ column: "rowid", type: "integer" }],
  isRowOf: (name, from) => `rowid IN (SELECT ${name}.rowid FROM ${from})`,
  // By rowid, which looks up each record. Comparing the columns could read all rows of a tenant,
  // and all records for each.
  isRecorded: (table, isRow) =>
    `r.rowid = (SELECT k.rowid FROM ${quoteName(table)} AS k WHERE ${isRow("k")})`,
  bodyBytes: `octet_length("body")`,
  tableRows: (table) => `SELECT max(rowid) AS "rows" FROM ${quoteName(table)}`,
};

const locks: LockDialect = {
  holdRows: "",
  shareRows: "",
  seizeRows: "",
  skipLocked: "",
  holdName: "",
  tryHoldNames: "",
  limitWaits: "",
};

const aggregates: AggregateDialect = {
  zonesNeedRange: true,
  zoneNames: null,
  zone: zoneOffsets,
  truncated: truncateTime,
  statistic,
};

const searches: SearchDialect = {
  matching: matchText,
  trigrams: null,
  wordsLike,
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
};

export const sqliteDialect: Dialect = {
  ...fields,
  ...values,
  ...rows,
  ...locks,
  ...aggregates,
  ...searches,
  now: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
};
