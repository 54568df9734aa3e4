// The production engine: PostgreSQL through a pool, named prepared statements, one connection a transaction.
import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { fail, ServiceError } from "../../contract/errors.js";
import type { Database, Transaction } from "../../operations/database.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationTarget } from "../sql/migrations.js";
import { hasEnded, readOnly, type SqlRow, type SqlSession } from "../sql/session.js";
import { sqlStores } from "../sql/stores.js";
import { postgresDialect } from "./dialect.js";

/** The advisory lock that one migrating process holds; any fixed number serves. */
const migrationLock = 7_270_164;

/** Connects lazily: the first statement opens the first connection. `poolSize` connections at most. */
export async function openPostgresDatabase(
  url: string,
  poolSize = 10,
): Promise<Database & MigrationTarget> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("PostgreSQL needs the package pg: npm install pg", { cause });
  });
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    // A read that outlives its deadline must not hold a connection for good.
    statement_timeout: 30_000,
    types: {
      getTypeParser: (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format),
    },
  });
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));

  return {
    reader: transactionOn(readOnly(sessionOf(pool, () => true))),

    async write({ lifetime, exclusive }, work) {
      const client = await connect(pool);
      let isOpen = true;
      let isBroken = false;
      const activity = { running: 0 };
      try {
        lifetime.throwIfOver();
        const session = sessionOf(client, () => isOpen, activity);
        await client.query("BEGIN");
        if (exclusive !== undefined) await takeExclusive(session, exclusive);
        const value = await lifetime.race(work(transactionOn(session)));
        lifetime.throwIfOver();
        isOpen = false;
        lifetime.decide();
        const { command } = await client.query("COMMIT");
        // PostgreSQL answers COMMIT with ROLLBACK where an earlier statement failed, and raises no error.
        if (command !== "COMMIT")
          throw fail(
            "core.infrastructure",
            {},
            { cause: new Error("the transaction was aborted") },
          );
        return value;
      } catch (error) {
        isOpen = false;
        isBroken = activity.running > 0 || !(await rolledBack(client));
        throw translated(error);
      } finally {
        // A statement may still be running after the deadline; ending the connection rolls its transaction back.
        client.release(isBroken);
      }
    },

    async ping() {
      await sessionOf(pool, () => true).all("SELECT 1", []);
    },

    close: () => pool.end(),

    engine: "postgres",

    async migrate(apply) {
      const client = await connect(pool);
      try {
        await client.query("BEGIN");
        await client.query(`SELECT pg_advisory_xact_lock(${migrationLock})`);
        const applied = await apply({
          exec: async (text) => void (await client.query(text)),
          session: sessionOf(client, () => true),
        });
        await client.query("COMMIT");
        return applied;
      } catch (error) {
        await rolledBack(client);
        throw translated(error);
      } finally {
        client.release();
      }
    },
  };
}

/** Values as the port has them: JSON stays text, 64-bit integers are numbers, timestamps are RFC 3339 in UTC. */
const readers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [114, (text) => text],
  [3802, (text) => text],
  [1184, (text) => new Date(text).toISOString()],
]);

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (cause) {
    throw fail("core.unavailable", {}, { cause, headers: { "Retry-After": "1" } });
  }
}

const statementNames = new Map<string, string>();
const maxNamed = 1_000;

/** A stable name of a statement's text; undefined (unnamed) once too many different texts have been seen. */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= maxNamed) return undefined;
  const name = `ow_${createHash("sha256").update(text).digest("base64url").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}

/** A session; `activity` counts the statements that have been sent and not answered. */
function sessionOf(
  target: Pool | PoolClient,
  isOpen: () => boolean,
  activity = { running: 0 },
): SqlSession {
  const query = async (text: string, parameters: readonly unknown[]) => {
    if (!isOpen()) throw hasEnded();
    activity.running += 1;
    try {
      const name = statementName(text);
      const values = [...parameters];
      return await target.query<SqlRow>(
        name === undefined ? { text, values } : { name, text, values },
      );
    } catch (error) {
      throw translated(error);
    } finally {
      activity.running -= 1;
    }
  };
  return {
    dialect: postgresDialect,
    all: async (text, parameters) => (await query(text, parameters)).rows,
    run: async (text, parameters) => (await query(text, parameters)).rowCount ?? 0,
  };
}

function transactionOn(session: SqlSession): Transaction {
  return {
    ...sqlStores(session),
    async attempt(work) {
      await session.run("SAVEPOINT attempt", []);
      try {
        const value = await work();
        await session.run("RELEASE SAVEPOINT attempt", []);
        return value;
      } catch (error) {
        if (!isOver(error)) await session.run("ROLLBACK TO SAVEPOINT attempt", []);
        throw error;
      }
    },
  };
}

async function takeExclusive(session: SqlSession, name: string): Promise<void> {
  const [row] = await session.all(
    `SELECT pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) AS "taken"`,
    [name],
  );
  if (row?.["taken"] !== true) throw inFlight();
}

function isOver(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === "deadline_exceeded" || error.code === "core.timeout")
  );
}

async function rolledBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL's condition codes (SQLSTATE, appendix A of its manual) and socket errors as codes of the error table. */
function translated(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  // A number that no longer fits: two of a list of percentiles are too far apart.
  if (code === "22003") return fail("query_too_complex", {}, { cause: error });
  if (code === "40001" || code === "40P01") return fail("core.concurrency", {}, { cause: error });
  if (
    /^(?:08|53|57P)/.test(code) ||
    /^E(?:CONN|PIPE|TIMEDOUT)/.test(code) ||
    /terminated|timeout/i.test(error.message)
  ) {
    return fail("core.unavailable", {}, { cause: error, headers: { "Retry-After": "1" } });
  }
  return /^[0-9A-Z]{5}$/.test(code) ? fail("core.infrastructure", {}, { cause: error }) : error;
}
