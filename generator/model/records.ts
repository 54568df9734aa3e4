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
  // Without a comparator the engine sorts strings by code units, and fast. The cast holds because
  // each key is of the map.
  return Object.fromEntries([...values.keys()].sort().map((key) => [key, values.get(key) as T]));
}

/**
 * A record with another value under each key. It is built in a loop because every schema is mapped
 * many times.
 */
export function mapRecord<Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  const result: Record<string, Result> = {};
  for (const key of Object.keys(values)) {
    const value = change(values[key] as Value);
    if (key === "__proto__") Object.defineProperty(result, key, { value, ...plain });
    else result[key] = value;
  }
  return result;
}

const plain = { configurable: true, enumerable: true, writable: true } as const;

/**
 * The members of several records. Throws if two have the same, because one of them would be lost.
 */
export function mergeRecords<Value>(
  parts: readonly Readonly<Record<string, Value>>[],
): Readonly<Record<string, Value>> {
  const all = new Map<string, Value>();
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    if (all.has(name)) throw new Error(`${name} is there twice`);
    all.set(name, value);
  }
  return Object.fromEntries(all);
}
