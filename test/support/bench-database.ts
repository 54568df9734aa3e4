// A database under the tests' own hands: statements, and what the engine would do for them.
import { Client } from "pg";
import { vi } from "vitest";
import { openSqlite } from "../../runtime/engines/sqlite/driver.js";
import type { SqlValue } from "../../runtime/engines/sql/dialect/values.js";
import type { SqlRow } from "../../runtime/engines/sql/session.js";
import type { TestEngine } from "./engines.js";

export interface Bench {
  query(text: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  explain(text: string, parameters: readonly SqlValue[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * Undefined while another connection writes. SQLite's own wait would block the event loop, which
 * the service that writes may need, because it often runs in the same process.
 */
function unlessLocked<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && error.message.includes("database is locked")) return undefined;
    throw error;
  }
}

/** Opens the database at an address, beside whoever else has it open. */
export async function benchOf({ name }: TestEngine, url: string): Promise<Bench> {
  if (name === "sqlite") {
    const connection = openSqlite(url.slice("sqlite:".length));
    const bound = (parameters: readonly SqlValue[]): never =>
      parameters.map((value) => (typeof value === "boolean" ? Number(value) : value)) as never;
    return {
      query: (text, parameters = []) =>
        vi.waitUntil(() => unlessLocked(() => connection.prepare(text).all(bound(parameters))), {
          timeout: 10_000,
        }),
      explain: async (text, parameters) =>
        connection
          .prepare(`EXPLAIN QUERY PLAN ${text}`)
          .all(bound(parameters))
          .map((row) => String(row["detail"]))
          .join("\n"),
      close: async () => connection.close(),
    };
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    query: async (text, parameters = []) => (await client.query(text, [...parameters])).rows,
    async explain(text, parameters) {
      const { rows } = await client.query(`EXPLAIN ${text}`, [...parameters]);
      return rows.map((row: SqlRow) => row["QUERY PLAN"]).join("\n");
    },
    close: () => client.end(),
  };
}
