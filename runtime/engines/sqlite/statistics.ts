// Statistics on SQLite. It has no percentiles or deviations, so they are computed from a group's
// values as a sorted JSON array.
import type { Statistic } from "../sql/dialect/aggregates.js";

/**
 * Prints a statistic: `inner` is the expression within a group, `outer` makes the result of the
 * column that this yields.
 */
export function statistic(
  name: Statistic,
  value: string,
  condition: string | null,
  { fraction, places }: { readonly fraction: number; readonly places: number | undefined },
): { readonly inner: string; readonly outer: (column: string) => string } {
  const only = condition === null ? "" : ` AND (${condition})`;
  const same = (column: string): string => column;
  const filter = ` FILTER (WHERE ${value} IS NOT NULL${only})`;
  if (name === "$sum") {
    const sum = `sum(${value})${filter}`;
    // The sum of doubles lies next to that of the decimals that they stand for.
    return { inner: places === undefined ? sum : `round(${sum}, ${places})`, outer: same };
  }
  if (name === "$avg") return { inner: `avg(${value})${filter}`, outer: same };
  const inner = `json_group_array(json(printf('%!.17g', ${value})) ORDER BY ${value})${filter}`;
  if (name === "$median" || name === "$percentile")
    return { inner, outer: (column) => percentile(column, fraction) };
  return { inner, outer: (column) => deviation(column, name) };
}

/** Interpolates linearly between the two values on either side of the fraction's position. */
function percentile(column: string, fraction: number): string {
  const at = (index: string): string => `json_extract(${column}, '$[' || (${index}) || ']')`;
  const size = `json_array_length(${column})`;
  const place = `(${fraction} * (${size} - 1))`;
  const low = `CAST(${place} AS INTEGER)`;
  const high = `min(${low} + 1, ${size} - 1)`;
  return `CASE WHEN ${size} = 0 THEN NULL ELSE ${at(low)} + (${at(high)} - ${at(low)}) * (${place} - ${low}) END`;
}

/**
 * A variance or standard deviation: squared distances from the mean, divided by the count, or by
 * one less for a sample.
 */
function deviation(column: string, name: Statistic): string {
  const isSample = name.endsWith("_samp");
  const size = `json_array_length(${column})`;
  // As a table of one row, the mean is computed once instead of for every value.
  const mean = `(SELECT avg("value") AS "mean" FROM json_each(${column})) a`;
  const distance = `(v."value" - a."mean")`;
  const squares = `(SELECT sum(${distance} * ${distance}) FROM json_each(${column}) v, ${mean})`;
  const variance = `${squares} / ${isSample ? `(${size} - 1)` : size}`;
  const result = name.startsWith("$stddev") ? `sqrt(${variance})` : variance;
  return `CASE WHEN ${size} < ${isSample ? 2 : 1} THEN NULL ELSE ${result} END`;
}
