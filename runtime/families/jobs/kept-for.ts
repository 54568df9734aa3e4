// How long runs are kept that have failed or were cancelled.

/** Milliseconds: a week, as other dead letters. */
const keptForMillis = 7 * 24 * 60 * 60 * 1_000;

/** Until when a run is kept that failed or was cancelled at a time; epoch milliseconds. */
export function keptUntil(at: number): number {
  return at + keptForMillis;
}
