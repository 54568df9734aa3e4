// What all comparisons of one pair of registries share.
import type { Note } from "./change.js";
import type { ValueComparison } from "./values.js";

export interface Comparison {
  readonly values: ValueComparison;
  readonly note: Note;
  /**
   * The day of the comparison in UTC, such as 2026-07-01, which decides whether a sunset has
   * passed.
   */
  readonly today: string;
}
