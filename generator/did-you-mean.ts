// The likeliest intended name for a misspelt one (Damerau-Levenshtein distance, optimal string alignment).

/** A candidate that the name abbreviates, else the closest one within a third of the name's length, or undefined. */
export function didYouMean(name: string, given: Iterable<string>): string | undefined {
  const candidates = [...given];
  const abbreviated = candidates.filter(
    (candidate) => name.length >= 3 && candidate !== name && candidate.startsWith(name),
  );
  if (abbreviated.length === 1) return abbreviated[0];
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates.sort()) {
    if (candidate === name || Math.abs(candidate.length - name.length) > limit) continue;
    const measured = distance(name.toLowerCase(), candidate.toLowerCase());
    const isNearerInLength =
      measured === bestDistance &&
      best !== undefined &&
      candidate.length === name.length &&
      best.length !== name.length;
    if (measured < bestDistance || isNearerInLength) {
      best = candidate;
      bestDistance = measured;
    }
  }
  return best;
}

function distance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(
        (rows[i - 1]?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        cost = Math.min(cost, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[left.length]?.[right.length] ?? Infinity;
}
