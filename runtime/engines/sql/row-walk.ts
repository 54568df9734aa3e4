// Walks over all rows of a table in the order of its keys, in batches: each begins after the last
// key of the one before.
import type { RowKey } from "./dialect/rows.js";
import type { SqlValue } from "./dialect/values.js";
import type { SqlRow, SqlSession } from "./session.js";

/** The key of a row. The empty key comes before all rows. */
export type KeyValues = readonly (string | number)[];

/** A table whose rows (alias `r`) are read in the order of its keys. `name` is already quoted. */
export interface Table {
  readonly name: string;
  readonly keys: readonly RowKey[];
}

/** Up to `limit` keys after a key, in order. */
export async function keysAfter(
  session: SqlSession,
  table: Table,
  after: KeyValues,
  limit: number,
): Promise<readonly KeyValues[]> {
  const { condition, parameters } = between(session, table, after, null);
  const limitAt = session.dialect.placeholder(parameters.length + 1);
  const found = await session.all(
    `SELECT ${selectKeys(table).join(", ")} FROM ${table.name} r WHERE ${condition} ORDER BY ${orderByKeys(table)} LIMIT ${limitAt}`,
    [...parameters, limit],
  );
  return found.map((row) => keyOf(row, table));
}

/**
 * The condition for rows after a key (the empty key: all rows) and up to `until`, inclusive (null:
 * to the end).
 */
export function between(
  { dialect }: SqlSession,
  table: Table,
  after: KeyValues,
  until: KeyValues | null,
): { readonly condition: string; readonly parameters: readonly SqlValue[] } {
  const placesFrom = (first: number): string =>
    table.keys
      // FTS5 ignores a bound that is a floating-point number, and numbers from JavaScript may be
      // bound as such.
      .map(({ type }, at) => `CAST(${dialect.placeholder(first + at)} AS ${type})`)
      .join(", ");
  const conditions = [
    after.length === 0 ? null : `(${orderByKeys(table)}) > (${placesFrom(1)})`,
    until === null ? null : `(${orderByKeys(table)}) <= (${placesFrom(after.length + 1)})`,
  ].filter((condition) => condition !== null);
  return {
    condition: conditions.length === 0 ? "TRUE" : conditions.join(" AND "),
    parameters: [...after, ...(until ?? [])],
  };
}

/** The key columns for ORDER BY. */
export function orderByKeys({ keys }: Table): string {
  return keys.map(({ column }) => `r.${column}`).join(", ");
}

/** The key columns for SELECT, named `k0`, `k1` …. */
export function selectKeys({ keys }: Table): readonly string[] {
  return keys.map(({ column }, at) => `r.${column} AS "k${at}"`);
}

/** The key of a row that was selected with the columns of `chosen`. */
export function keyOf(row: SqlRow, { keys }: Table): KeyValues {
  return keys.map((_key, at) => {
    const value = row[`k${at}`];
    return typeof value === "number" ? value : String(value);
  });
}
