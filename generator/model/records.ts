// Records whose keys authors choose: `constructor` is a key like any other.

/** The record's own value under a key, or undefined. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A record with its keys in code-unit order. */
export function sortedRecord<T>(
  entries: Iterable<readonly [string, T]>,
): Readonly<Record<string, T>> {
  const values = new Map(entries);
  // Without a comparator the engine sorts strings by code units, and fast. The cast holds because each key is of the map.
  return Object.fromEntries([...values.keys()].sort().map((key) => [key, values.get(key) as T]));
}
