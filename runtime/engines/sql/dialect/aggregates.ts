// Groups: periods of time, and what is computed over each.
import type { FieldType } from "../../../contract/fields.js";
import type { AggregateFunction, TruncUnit } from "../../../query/aggregate.js";

/** Aggregate functions that each engine computes in its own way. */
export type Statistic = Exclude<AggregateFunction, "$count" | "$count_distinct" | "$min" | "$max">;

export interface AggregateDialect {
  /**
   * Whether `zone` needs the first and the last time that it is used for; otherwise they are "".
   */
  readonly zonesNeedRange: boolean;
  /**
   * A query of the time zones that the engine knows, as `name`; null if it has those of Node.js.
   */
  readonly zoneNames: string | null;
  /** The parameter of `truncated` that stands for a time zone, by a name that the engine knows. */
  zone(timezone: string, first: string, last: string): string;
  /**
   * The expression of the local start of the period that a time falls into: `2026-03-01T00:00:00`.
   */
  truncated(text: string, unit: TruncUnit, type: FieldType, zone: string): string;
  /**
   * A statistic of a group: `inner` is the expression in the query that groups, `outer` the one in
   * the query around it, which computes the result from the inner column. A sum of decimals, whose
   * places are given, is exact.
   */
  statistic(
    name: Statistic,
    value: string,
    condition: string | null,
    { fraction, places }: { readonly fraction: number; readonly places: number | undefined },
  ): { readonly inner: string; readonly outer: (column: string) => string };
}
