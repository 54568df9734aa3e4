// Records whose keys people choose: `constructor` is a name like any other.

/** The record's own value under a key, or undefined. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A record with its keys in code-unit order. */
export function sortedRecord<T>(
  entries: Iterable<readonly [string, T]>,
): Readonly<Record<string, T>> {
  const values = new Map(entries);
  // Texts without a comparison of ours are sorted by the engine alone. Each key has its value.
  return Object.fromEntries([...values.keys()].sort().map((key) => [key, values.get(key) as T]));
}
