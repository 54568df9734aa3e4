// Work of operators on any number of rows: one transaction after another, each of bounded size.

/** Repeats a batch until it finds less than it could take; returns how much all have found. */
export async function countInBatches(
  size: number,
  batch: (size: number) => Promise<number>,
): Promise<number> {
  for (let count = 0; ;) {
    const found = await batch(size);
    count += found;
    if (found < size) return count;
  }
}
