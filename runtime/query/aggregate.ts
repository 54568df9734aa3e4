// Aggregates after parsing: rows in groups, what is computed of each, which groups stay
// (decisions.md "Query language").
import type { FieldType } from "../contract/fields.js";
import type { Filter, SortKey } from "./ast.js";
import type { FieldReference } from "./fields.js";

export const truncUnits = ["hour", "day", "week", "month"] as const;
export type TruncUnit = (typeof truncUnits)[number];

/**
 * What rows of one group have in common: a field's value, or the beginning of an hour, day, week or
 * month of it.
 */
export interface Group {
  readonly alias: string;
  readonly field: FieldReference;
  readonly trunc: { readonly unit: TruncUnit; readonly timezone: string } | null;
}

export const aggregateFunctions = [
  "$count",
  "$count_distinct",
  "$sum",
  "$avg",
  "$min",
  "$max",
  "$median",
  "$percentile",
  "$stddev_pop",
  "$stddev_samp",
  "$var_pop",
  "$var_samp",
] as const;
export type AggregateFunction = (typeof aggregateFunctions)[number];

/**
 * A value of each group, over its rows that pass the filter; null if there is nothing to compute
 * of.
 */
export interface Computed {
  readonly alias: string;
  readonly name: AggregateFunction;
  /** Null for `$count`, which counts rows. */
  readonly field: FieldReference | null;
  /** Of `$median` and `$percentile`, from 0 to 1. */
  readonly fraction: number;
  readonly filter: Filter;
}

/** Columns of the answer are `g0…` and `c0…` in SQL: no alias of a client's ever stands there. */
export interface Aggregate {
  readonly groups: readonly Group[];
  readonly computed: readonly Computed[];
  readonly having: Filter;
  readonly sorts: readonly SortKey[];
}

/** The type of a group's value: the beginning of a period is a local time, as text. */
export function groupType({ field, trunc }: Group): FieldType {
  return trunc === null ? field.type : "string";
}

export function computedType({ name, field }: Pick<Computed, "name" | "field">): FieldType {
  if (name === "$count" || name === "$count_distinct") return "integer";
  return name === "$min" || name === "$max" ? (field?.type ?? "number") : "number";
}
