// Groups on PostgreSQL: periods of time, and statistics.
import type { FieldType } from "../../contract/fields.js";
import type { TruncUnit } from "../../query/aggregate.js";
import type { AggregateDialect, Statistic } from "../sql/dialect/aggregates.js";

export const aggregates: AggregateDialect = {
  zonesNeedRange: false,
  zoneNames: `SELECT "name" FROM pg_timezone_names`,
  zone: (timezone) => timezone,
  truncated: truncateTime,
  statistic,
};

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

function statistic(
  name: Statistic,
  value: string,
  condition: string | null,
  { fraction }: { readonly fraction: number },
) {
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
