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
import type { TruncUnit } from "../../query/aggregate.js";
import { quoteName, type Dialect, type Statistic } from "../sql/session.js";

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

export const postgresDialect: Dialect = {
  placeholder: (position) => `$${position}`,
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
  isIn: (of, placeholder) => `${field(of)} = ANY(${placeholder}::${sqlType(of)}[])`,
  listRows: (of, placeholder) => [
    `unnest(${placeholder}::${sqlType(of)}[]) AS w("value")`,
    `w."value"`,
  ],
  records: (members, placeholder) => {
    const columns = Object.entries(members).map(([member, type], at) => {
      const value = type === "json" ? `v -> ${at}` : `(v ->> ${at})::${recordTypes[type]}`;
      return `${value} AS ${quoteName(member)}`;
    });
    return `(SELECT ${columns.join(", ")} FROM jsonb_array_elements(${placeholder}::jsonb) AS v) AS w`;
  },
  // With IN, the planner might read the whole table for a join.
  isRowOf: (name, from) => `ctid = ANY(ARRAY(SELECT ${name}.ctid FROM ${from}))`,
  isRecorded: (_table, isRow) => isRow("r"),
  typed: (type, placeholder) => `${placeholder}::${recordTypes[type]}`,
  list: (values) => values,
  bodyBytes: `octet_length("body"::text)`,
  tableRows: (table) =>
    `SELECT reltuples AS "rows" FROM pg_class WHERE oid = to_regclass('${quoteName(table)}')`,
  json: (placeholder) => `${placeholder}::jsonb`,
  columns: `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"`,
  skipLocked: " FOR UPDATE SKIP LOCKED",
  now: "(extract(epoch FROM statement_timestamp()) * 1000)::bigint",
  rowKey: `"id"`,
  zonesNeedRange: false,
  zoneNames: `SELECT "name" FROM pg_timezone_names`,
  zone: (timezone) => timezone,
  truncated: truncateTime,
  statistic,
  matching: matchText,
  trigrams: `SELECT 1 FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm' AND n.nspname = ANY(current_schemas(true))`,
  wordsLike,
  havingWord,
  indexPut,
  indexPutMany,
  indexRemove,
  isWordUsed,
  rowKeys: ({ tenant }) => [
    ...(tenant ? [{ column: `"tenant_id"`, type: "text" } as const] : []),
    { column: `"id"`, type: "uuid" },
  ],
  holdRows: " FOR NO KEY UPDATE",
  holdName: "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))",
  // Others may still change columns that are not part of a key.
  shareRows: " FOR KEY SHARE",
  seizeRows: " FOR UPDATE",
};

const recordTypes = {
  integer: "bigint",
  text: "text",
  json: "jsonb",
  uuid: "uuid",
  boolean: "boolean",
  timestamp: "timestamptz",
} as const;

/**
 * Rules of zones are followed between these instants, as on SQLite (engines/sqlite/time-zone.ts).
 */
const [earliest, latest] = ["1900-01-01T00:00:00Z", "2100-01-01T00:00:00Z"];

/**
 * The local beginning of a period; null for a year that is not 0001 to 9999. PostgreSQL has no year
 * 0000, which documents may contain that were stored before it was refused.
 */
function truncateTime(text: string, unit: TruncUnit, type: FieldType, zone: string): string {
  const at = `(CASE WHEN ${text} >= '0001' THEN ${text} END)`;
  // A date needs no zone, but PostgreSQL refuses a parameter that nothing uses.
  const local =
    type === "date"
      ? `${at}::timestamp + (${zone}::text IS NULL)::int * interval '0'`
      : localTime(`${at}::timestamptz`, zone);
  const begin = `date_trunc('${unit}', ${local})`;
  return `(SELECT CASE WHEN l."at" >= '0001-01-01' AND l."at" < '10000-01-01' THEN to_char(l."at", 'YYYY-MM-DD"T"HH24:MI:SS') END FROM (SELECT ${begin} AS "at") AS l)`;
}

/** Offsets are whole minutes, and outside of the years above those of the nearest one. */
function localTime(at: string, zone: string): string {
  const nearest = `least(greatest(${at}, '${earliest}'), '${latest}')`;
  const offset = `(${nearest} AT TIME ZONE ${zone}::text) - (${nearest} AT TIME ZONE 'UTC')`;
  return `(${at} AT TIME ZONE 'UTC') + date_trunc('minute', ${offset})`;
}

function statistic(name: Statistic, value: string, condition: string | null, fraction: number) {
  const only = condition === null ? "" : ` FILTER (WHERE ${condition})`;
  if (name === "$median" || name === "$percentile") {
    const inner = `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY (${value})::float8)`;
    return { inner: `${inner}${only}`, outer: (column: string) => column };
  }
  // Computed exactly. The cast to a float would fail if the result is too large or too close to
  // zero: null or 0 then.
  const cast = (result: string): string =>
    `CASE WHEN abs(${result}) < 2.5e-324 THEN 0 WHEN abs(${result}) <= 1.7976931348623157e308 THEN ${result}::float8 END`;
  if (!name.startsWith("$stddev"))
    return { inner: `${name.slice(1)}((${value})::numeric)${only}`, outer: cast };
  // A root of type numeric has as few as 16 digits in all, so that large ones lose their fraction.
  const variance = `${name.slice(1).replace("stddev", "var")}((${value})::numeric)${only}`;
  return {
    inner: variance,
    outer: (column: string) =>
      `CASE WHEN ${column} BETWEEN 1e-300 AND 1e300 THEN sqrt(${column}::float8) ELSE ${cast(`sqrt(${column})`)} END`,
  };
}

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
