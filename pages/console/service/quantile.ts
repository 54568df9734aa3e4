// A quantile of a histogram, as Prometheus' histogram_quantile estimates it.

/** How many values were at most a bound. */
export interface Bucket {
  readonly bound: number;
  readonly count: number;
}

/**
 * The value that a share of all values does not exceed: within its bucket they are taken to be
 * spread evenly, and what exceeds the last finite bound counts as that bound. 0 for no values.
 */
export function quantileOf(buckets: readonly Bucket[], share: number): number {
  const ordered = [...buckets].sort((left, right) => left.bound - right.bound);
  const all = ordered.at(-1)?.count ?? 0;
  if (all <= 0) return 0;
  const wanted = share * all;
  const index = ordered.findIndex(({ count }) => count >= wanted);
  const found = ordered[index];
  const below = ordered[index - 1] ?? { bound: 0, count: 0 };
  if (found === undefined || found.bound === Infinity) return below.bound;
  const within = (wanted - below.count) / (found.count - below.count || 1);
  return below.bound + (found.bound - below.bound) * within;
}
