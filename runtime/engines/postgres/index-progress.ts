// Reports the progress of an index that another connection builds (PostgreSQL's manual, "CREATE
// INDEX Progress Reporting").
import { Lifetime } from "../../ports/lifetime.js";
import type { MigrationWatch } from "../sql/migrations.js";
import type { PostgresConnections } from "./connections.js";
import { sleep } from "../../ports/ambient.js";

/** Milliseconds between two queries, and for an answer. */
const everyMillis = 500;
const patienceMillis = 5_000;

/** A phase counts blocks, tuples, or lockers to wait for; this takes the first that it counts. */
const progress = `
SELECT CASE WHEN blocks_total > 0 THEN blocks_done WHEN tuples_total > 0 THEN tuples_done ELSE lockers_done END AS "done",
  CASE WHEN blocks_total > 0 THEN blocks_total WHEN tuples_total > 0 THEN tuples_total ELSE lockers_total END AS "total"
FROM pg_stat_progress_create_index WHERE pid = $1`;

/**
 * Calls `onProgress` twice a second with the progress of the backend `pid`, until `end` is called.
 * Never rejects.
 */
export function watchIndex(
  connections: PostgresConnections,
  pid: number,
  { onProgress }: MigrationWatch,
): { end(): Promise<void> } {
  if (onProgress === undefined) return { end: async () => undefined };
  const ended = new AbortController();
  const ask = async (): Promise<void> => {
    const lifetime = Lifetime.within(patienceMillis);
    const connection = await connections.acquire({ lifetime, payer: null });
    try {
      const { rows } = await connection.query({ text: progress, values: [pid] }, lifetime);
      const [row] = rows;
      if (row !== undefined) onProgress(Number(row["done"]), Number(row["total"]));
    } finally {
      connection.release();
    }
  };
  const repeat = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await sleep(everyMillis, undefined, { signal: ended.signal }).catch(() => undefined);
      // A query that fails must not stop the index from being built.
      if (!ended.signal.aborted) await ask().catch(() => undefined);
    }
  };
  const repeating = repeat();
  return {
    async end() {
      ended.abort();
      await repeating;
    },
  };
}
