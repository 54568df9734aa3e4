// Records whose keys people choose: `constructor` is a name like any other.

/** The record's own value under a key, or undefined. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A record with its keys in code-unit order. */
export function sortedRecord<T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
}
