// Walking over all rows of a table in the order of its keys, some at a time: each portion begins behind the last.
import type { RowKey, SqlRow, SqlSession, SqlValue } from "./session.js";

/** The key of a row; empty stands before the first. */
export type Key = readonly (string | number)[];

/** A table whose rows (`r`) are read in the order of its keys. */
export interface Table {
  readonly name: string;
  readonly keys: readonly RowKey[];
}

/** The next keys after one, in order. */
export async function keysAfter(
  session: SqlSession,
  table: Table,
  after: Key,
  limit: number,
): Promise<readonly Key[]> {
  const { condition, parameters } = between(session, table, after, null);
  const limitAt = session.dialect.placeholder(parameters.length + 1);
  const found = await session.all(
    `SELECT ${chosen(table).join(", ")} FROM ${table.name} r WHERE ${condition} ORDER BY ${ordered(table)} LIMIT ${limitAt}`,
    [...parameters, limit],
  );
  return found.map((row) => keyOf(row, table));
}

/** The condition on rows after a key (all, where it is empty), up to another. */
export function between(
  { dialect }: SqlSession,
  table: Table,
  after: Key,
  until: Key | null,
): { readonly condition: string; readonly parameters: readonly SqlValue[] } {
  const placesFrom = (first: number): string =>
    table.keys
      // FTS5 takes numbers with a fraction for no bound at all, and those of JavaScript may have one.
      .map(({ type }, at) => `CAST(${dialect.placeholder(first + at)} AS ${type})`)
      .join(", ");
  const conditions = [
    after.length === 0 ? null : `(${ordered(table)}) > (${placesFrom(1)})`,
    until === null ? null : `(${ordered(table)}) <= (${placesFrom(after.length + 1)})`,
  ].filter((condition) => condition !== null);
  return {
    condition: conditions.length === 0 ? "TRUE" : conditions.join(" AND "),
    parameters: [...after, ...(until ?? [])],
  };
}

/** The keys, as ORDER BY has them. */
export function ordered({ keys }: Table): string {
  return keys.map(({ column }) => `r.${column}`).join(", ");
}

/** The keys, as SELECT has them. */
export function chosen({ keys }: Table): readonly string[] {
  return keys.map(({ column }, at) => `r.${column} AS "k${at}"`);
}

/** The key of a row that `chosen` selected. */
export function keyOf(row: SqlRow, { keys }: Table): Key {
  return keys.map((_key, at) => {
    const value = row[`k${at}`];
    return typeof value === "number" ? value : String(value);
  });
}
