// Many documents at once, by the engine's own means: what is asked of large tables takes no minutes to prepare.
import { openDatabase } from "../../runtime/server/engines.js";
import type { TestEngine } from "./engines.js";

export interface ManyRows {
  readonly table: string;
  readonly count: number;
  /** The JSON of a body, as an SQL expression of the row's number `i`. */
  readonly body: string;
  readonly tenant: string;
}

/** Fills a table of documents that has tenants; ids count from 1. */
export async function fill(
  { name }: TestEngine,
  url: string,
  { table, count, body, tenant }: ManyRows,
): Promise<void> {
  const isSqlite = name === "sqlite";
  const numbers = isSqlite
    ? `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n)`
    : `(SELECT i FROM generate_series(1, ${count}) AS n(i))`;
  const values = [
    `'${tenant}'`,
    isSqlite
      ? `'00000000-0000-7000-8000-' || printf('%012x', i)`
      : `('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`,
    "1",
    ...Array.from(
      { length: 2 },
      () => `'2026-01-01T00:00:00.000Z'${isSqlite ? "" : "::timestamptz"}`,
    ),
    "false",
    isSqlite ? body : `(${body})::jsonb`,
  ];
  const columns = `"tenant_id", "id", "rev", "created_at", "last_update_at", "is_deleted", "body"`;
  const database = await openDatabase(url);
  try {
    await database.migrate(({ transaction }) =>
      transaction(({ exec }) =>
        exec(
          `INSERT INTO "${table}" (${columns}) SELECT ${values.join(", ")} FROM ${numbers} AS n`,
        ),
      ),
    );
  } finally {
    await database.close();
  }
}
