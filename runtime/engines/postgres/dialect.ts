// How SQL is printed for PostgreSQL (jsonb bodies, timestamptz columns, text by code point).
import { postgresDocumentField, postgresField, type FieldType } from "../../contract/fields.js";
import type { FieldReference } from "../../query/fields.js";
import {
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
  matchText,
  wordsLike,
} from "./full-text.js";
import { regexOf } from "./regex.js";
import { aggregates } from "./aggregates.js";
import type { Dialect } from "../sql/dialect/dialect.js";
import type { FieldDialect } from "../sql/dialect/fields.js";
import type { LockDialect } from "../sql/dialect/locks.js";
import type { RowDialect } from "../sql/dialect/rows.js";
import type { SearchDialect } from "../sql/dialect/searches.js";
import type { ValueDialect } from "../sql/dialect/values.js";
import { quoteName } from "../sql/session.js";

const field = (of: FieldReference): string => {
  if (of.isElement === true)
    return of.path === ""
      ? castText(`(e."value" #>> '{}')`, of.type)
      : postgresField(of.path, of.type, `e."value"`);
  return of.isColumn ? quoteName(of.path) : inBody(of, of.type);
};

/** A field of the body, read as a type. */
const inBody = ({ path, stored = { path } }: FieldReference, type: FieldType): string =>
  postgresDocumentField(stored, type);

/** A field of the body as an array; an empty array if the field is anything else. */
const array = (of: FieldReference): string => {
  const value = inBody(of, of.type);
  return `CASE WHEN jsonb_typeof(${value}) = 'array' THEN ${value} ELSE '[]'::jsonb END`;
};

const fields: FieldDialect = {
  field,
  operand: (of, placeholder) => `${placeholder}::${sqlType(of)}`,
  bind: (_of, value) => value,
  comparable: (of) => (of.isColumn ? columnText(of) : field(of)),
  idText: (row) => `(${row}."id"::text COLLATE "C")`,
  // Read as text: in an array or object field, a JSON null would otherwise not be an SQL NULL.
  isNull: (of, isNull) => {
    const text = of.isColumn || of.isElement === true ? field(of) : inBody(of, "string");
    return `${text} IS ${isNull ? "" : "NOT "}NULL`;
  },
  isArray: (of) => `jsonb_typeof(${inBody(of, of.type)}) IS NOT DISTINCT FROM 'array'`,
  arrayLength: (of) => `jsonb_array_length(${array(of)})`,
  elements: (of) => `jsonb_array_elements(${array(of)}) AS e("value")`,
  pattern: regexOf,
  matches: (of, placeholder) => `${field(of)} ~ ${placeholder}::text`,
};

const values: ValueDialect = {
  placeholder: (position) => `$${position}`,
  list: (values) => values,
  listRows: (of, placeholder) => [
    `unnest(${placeholder}::${sqlType(of)}[]) AS w("value")`,
    `w."value"`,
  ],
  isIn: (of, placeholder) => `${field(of)} = ANY(${placeholder}::${sqlType(of)}[])`,
  records: (members, placeholder) => {
    const columns = Object.entries(members).map(([member, type], at) => {
      const value = type === "json" ? `v -> ${at}` : `(v ->> ${at})::${recordTypes[type]}`;
      return `${value} AS ${quoteName(member)}`;
    });
    return `(SELECT ${columns.join(", ")} FROM jsonb_array_elements(${placeholder}::jsonb) AS v) AS w`;
  },
  typed: (type, placeholder) => `${placeholder}::${recordTypes[type]}`,
  json: (placeholder) => `${placeholder}::jsonb`,
};

const rows: RowDialect = {
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"`,
  rowKey: `"id"`,
  insertBoth: (first, then) => `WITH "first" AS (${first}) ${then}`,
  rowKeys: ({ tenant }) => [
    ...(tenant ? [{ column: `"tenant_id"`, type: "text" } as const] : []),
    { column: `"id"`, type: "uuid" },
  ],
  // With IN, the planner might read the whole table for a join.
  isRowOf: (name, from) => `ctid = ANY(ARRAY(SELECT ${name}.ctid FROM ${from}))`,
  isRecorded: (_table, isRow) => isRow("r"),
  bodyBytes: `octet_length("body"::text)`,
  tableRows: (table) =>
    `SELECT reltuples AS "rows" FROM pg_class WHERE oid = to_regclass('${quoteName(table)}')`,
};

const locks: LockDialect = {
  holdRows: " FOR NO KEY UPDATE",
  // Others may still change columns that are not part of a key.
  shareRows: " FOR KEY SHARE",
  seizeRows: " FOR UPDATE",
  skipLocked: " FOR UPDATE SKIP LOCKED",
  holdName: "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))",
  limitWaits: `SELECT set_config('lock_timeout', $1::text, true), set_config('idle_in_transaction_session_timeout', $2::text, true)`,
  tryHoldNames: `SELECT n AS "name" FROM unnest($1::text[]) n WHERE pg_try_advisory_xact_lock(hashtextextended(n, 0))`,
};

const searches: SearchDialect = {
  matching: matchText,
  trigrams: `SELECT 1 FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm' AND n.nspname = ANY(current_schemas(true))`,
  wordsLike,
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
};

export const postgresDialect: Dialect = {
  ...fields,
  ...values,
  ...rows,
  ...locks,
  ...aggregates,
  ...searches,
  now: "(extract(epoch FROM statement_timestamp()) * 1000)::bigint",
};

const recordTypes = {
  integer: "bigint",
  text: "text",
  json: "jsonb",
  uuid: "uuid",
  boolean: "boolean",
  timestamp: "timestamptz",
} as const;

/** A column in the form in which body fields are compared. */
function columnText(of: FieldReference): string {
  switch (of.type) {
    case "uuid":
      return `(${quoteName(of.path)}::text COLLATE "C")`;
    case "date-time":
      return `(to_char(${quoteName(of.path)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C")`;
    default:
      return quoteName(of.path);
  }
}

function castText(text: string, type: FieldType): string {
  const cast = bodyTypes[type];
  return cast === undefined ? `(${text} COLLATE "C")` : `(${text}::${cast})`;
}

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
  score: "float8",
  sequence: "bigint",
  session_id: "uuid",
};

function sqlType(field: FieldReference): string {
  const column = field.isColumn ? columnTypes[field.path] : undefined;
  return column ?? bodyTypes[field.type] ?? "text";
}
