// How far two words are from each other (Damerau-Levenshtein distance, optimal string alignment).

/**
 * Letters to insert, remove, replace, or swap with their neighbour until one word is the other;
 * `limit + 1` where it is more than `limit`.
 */
export function editDistance(left: string, right: string, limit: number): number {
  const [a, b] = [[...left], [...right]];
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const changed = (above[j - 1] ?? 0) + (isSame ? 0 : 1);
      let cost = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    if (Math.min(...row) > limit) return limit + 1;
    before = above;
    above = row;
  }
  return Math.min(above[b.length] ?? 0, limit + 1);
}
