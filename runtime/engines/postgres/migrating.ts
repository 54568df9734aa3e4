// Migrations on PostgreSQL while the service is running: callers never wait long for a migration's
// locks, and statements that take long take no lock that callers wait for.
import { unavailable } from "../../contract/errors.js";
import { DatabaseRefusal } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { MigrationConnection, MigrationWatch } from "../sql/migrations.js";
import type { SqlSession } from "../sql/session.js";
import type { PostgresConnections, HeldConnection } from "./connections.js";
import { changedSession, translateFault } from "./faults.js";
import { watchIndex } from "./index-progress.js";
import { hasLentSession, type Asking } from "./lent-session.js";
import { drawFraction, sleep } from "../../ports/ambient.js";

/**
 * The advisory lock that the migrating process holds. Any number will do, but it must never change.
 */
const migrationLock = 7_270_164;
/**
 * Milliseconds that a migration waits for a lock. Callers that queue behind it wait just as long.
 */
const lockMillis = 700;
/** How many times a transaction is tried. */
const maxTries = 240;
/** Mean milliseconds between two tries, in which the lock's holder can finish. */
const pauseMillis = 500;
/** Milliseconds between checks whether another process has finished migrating. */
const turnMillis = 200;
/**
 * Milliseconds between the server's checks, during a statement, that its client is still connected.
 */
const lookMillis = 1_000;

/**
 * lock_not_available and deadlock_detected: the transaction is undone and may succeed the next
 * time.
 */
const passing = new Set(["55P03", "40P01"]);

type SessionOf = (connection: HeldConnection) => SqlSession;

/**
 * Runs `work` while no other process migrates, on a connection of its own without a time limit.
 * Ends when the watch's signal aborts. Rejects with codes of the error table, or with the signal's
 * reason while waiting for another process.
 */
export function withMigrationLock<T>(
  connections: PostgresConnections,
  work: (connection: MigrationConnection) => Promise<T>,
  sessionOf: SessionOf,
  watch: MigrationWatch = {},
): Promise<T> {
  const lifetime = untilAborted(watch.signal);
  return withConnection(connections, lifetime, async (connection, exec) => {
    await exec("SET statement_timeout = 0");
    // If this process is killed, its statement ends soon and the lock is released.
    await exec(
      `SELECT set_config(name, '${lookMillis}ms', false) FROM pg_settings WHERE name = 'client_connection_check_interval'`,
    );
    // Polls: waiting inside a statement would hold a snapshot, for which another process's CREATE
    // INDEX CONCURRENTLY waits.
    for (let isTold = false; !(await isMine(sessionOf(connection))); isTold = true) {
      if (!isTold) watch.onWaiting?.();
      watch.signal?.throwIfAborted();
      await sleep(turnMillis);
    }
    const result = await work({
      transaction: (inside) =>
        retryOnLocks(exec, () => inside({ exec, session: sessionOf(connection) })),
      async online(statement) {
        await exec("SET lock_timeout = 0");
        const watched = watchIndex(connections, await pidOf(sessionOf(connection)), watch);
        try {
          await exec(statement);
        } finally {
          await watched.end();
        }
      },
    });
    await exec(`SELECT pg_advisory_unlock(${migrationLock})`);
    await exec("RESET client_connection_check_interval");
    await exec("RESET lock_timeout");
    await exec("RESET statement_timeout");
    return result;
  });
}

/** Runs `work` on a connection of its own, without waiting for a process that migrates. */
export function inspectDatabase<T>(
  connections: PostgresConnections,
  work: (session: SqlSession) => Promise<T>,
  sessionOf: SessionOf,
): Promise<T> {
  return withConnection(connections, Lifetime.unlimited(), (connection) =>
    work(sessionOf(connection)),
  );
}

type Exec = (text: string) => Promise<void>;

async function withConnection<T>(
  connections: PostgresConnections,
  lifetime: Lifetime,
  work: (connection: HeldConnection, exec: Exec) => Promise<T>,
): Promise<T> {
  const connection = await connections.acquire({ lifetime, payer: null });
  // Destroying a broken connection also drops its settings and its lock.
  let isBroken = true;
  try {
    await expectSchema(connection, lifetime);
    if (!connection.manner.isShared) await expectOwnSession(connections, connection, lifetime);
    const result = await work(connection, async (text) => {
      await connection.query({ text }, lifetime);
    });
    isBroken = false;
    return result;
  } catch (error) {
    throw translateFault(error);
  } finally {
    connection.release(isBroken);
  }
}

/** Where a setting comes from, by what PostgreSQL calls that. */
const sources: Readonly<Record<string, string>> = {
  client: "the options of DATABASE_URL, or PGOPTIONS",
  user: "ALTER ROLE … SET",
  database: "ALTER DATABASE … SET",
  "database user": "ALTER ROLE … IN DATABASE … SET",
  "configuration file": "postgresql.conf",
};

/**
 * Rejects if there is no schema that tables could be in: what comes next would say no more than
 * that.
 */
async function expectSchema(connection: HeldConnection, lifetime: Lifetime): Promise<void> {
  const text = `SELECT current_schema() AS "schema", setting AS "path", source AS "source"
    FROM pg_settings WHERE name = 'search_path'`;
  const [row] = (await connection.queryAlone({ text }, lifetime)).rows;
  if (row === undefined || row["schema"] !== null) return;
  const from = sources[String(row["source"])] ?? "the server";
  const fault = `DATABASE_URL: search_path is ${String(row["path"])} (set by ${from}), and no such schema exists, or the role may not use it: create the schema, or set another search_path`;
  throw unavailable(new DatabaseRefusal(fault, false, undefined));
}

/**
 * Rejects if a pooler lends this connection another session for each transaction, so that a lock
 * would stay behind in one that is somebody else's next.
 */
async function expectOwnSession(
  connections: PostgresConnections,
  connection: HeldConnection,
  lifetime: Lifetime,
): Promise<void> {
  const askerOf = (one: HeldConnection): Asking => ({
    processId: one.processId,
    ask: async (text) => (await one.query({ text }, lifetime)).rows,
  });
  let other: HeldConnection | undefined;
  let isBroken = true;
  try {
    const isLent = await hasLentSession(askerOf(connection), async () => {
      other = await connections.acquire({ lifetime, payer: null });
      return askerOf(other);
    });
    if (isLent) throw unavailable(changedSession());
    isBroken = false;
  } finally {
    other?.release(isBroken);
  }
}

/** A lifetime that ends when the signal aborts, which cancels the running statement. */
function untilAborted(signal: AbortSignal | undefined): Lifetime {
  if (signal === undefined) return Lifetime.unlimited();
  return new Lifetime(Infinity, {
    isGone: () => signal.aborted,
    onGone: (listener) => signal.addEventListener("abort", listener, { once: true }),
  });
}

async function pidOf(session: SqlSession): Promise<number> {
  const [row] = await session.all(`SELECT pg_backend_pid() AS "pid"`, []);
  return Number(row?.["pid"]);
}

async function isMine(session: SqlSession): Promise<boolean> {
  const [row] = await session.all(`SELECT pg_try_advisory_lock(${migrationLock}) AS "taken"`, []);
  return row?.["taken"] === true;
}

/**
 * Runs `work` in a transaction that gives way to callers: if it can't get a lock in time, it is
 * undone and begun again.
 */
async function retryOnLocks<T>(exec: Exec, work: () => Promise<T>): Promise<T> {
  await exec(`SET lock_timeout = ${lockMillis}`);
  for (let tries = 1; ; tries += 1) {
    try {
      await exec("BEGIN");
      const result = await work();
      await exec("COMMIT");
      return result;
    } catch (error) {
      // If it can't be repeated, the connection is destroyed, which undoes the open transaction.
      if (tries === maxTries || !isPassing(error)) throw error;
      await exec("ROLLBACK");
      await sleep(pauseMillis * (0.5 + drawFraction()));
    }
  }
}

/** Looks for the server's code in the error and its causes. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return (typeof code === "string" && passing.has(code)) || isPassing(error.cause);
}
