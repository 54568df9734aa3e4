// Migrations on PostgreSQL while the service is at work: nobody waits long for a lock of theirs, and what takes long takes none
// that callers wait for.
import { setTimeout as sleep } from "node:timers/promises";
import { Lifetime } from "../../ports/lifetime.js";
import type { MigrationConnection, MigrationWatch } from "../sql/migrations.js";
import type { SqlSession } from "../sql/session.js";
import type { Connections, HeldConnection } from "./connections.js";
import { translated } from "./faults.js";
import { watchIndex } from "./index-progress.js";

/** The advisory lock that one migrating process holds; any fixed number serves. */
const migrationLock = 7_270_164;
/** How long a migration waits for a lock, in milliseconds: whoever comes behind it waits as long. */
const lockMillis = 700;
/** How often it is tried again, and what lies between two tries, in milliseconds: who holds the lock gets time to end. */
const maxTries = 240;
const pauseMillis = 500;
/** How often a process looks whether another one has ended. */
const turnMillis = 200;
/** How often the server looks whether its client is still there, while a statement runs. */
const lookMillis = 1_000;

/** A lock that was not got in time, and a deadlock: both are undone, and may come right the next time. */
const passing = new Set(["55P03", "40P01"]);

type SessionOf = (connection: HeldConnection) => SqlSession;

/** Does work alone among all processes that migrate, on a connection of its own without a limit of time. */
export function migrating<T>(
  connections: Connections,
  work: (connection: MigrationConnection) => Promise<T>,
  sessionOf: SessionOf,
  watch: MigrationWatch = {},
): Promise<T> {
  const lifetime = untilAborted(watch.signal);
  return withConnection(connections, lifetime, async (connection, exec) => {
    await exec("SET statement_timeout = 0");
    // What a process that is killed has begun ends soon, and lets go of the lock.
    await exec(
      `SELECT set_config(name, '${lookMillis}ms', false) FROM pg_settings WHERE name = 'client_connection_check_interval'`,
    );
    // Asked again and again: whoever waits inside a statement holds a snapshot, which an index that is made beside waits for.
    while (!(await isMine(sessionOf(connection)))) {
      watch.signal?.throwIfAborted();
      await sleep(turnMillis);
    }
    const result = await work({
      transaction: (inside) => tried(exec, () => inside({ exec, session: sessionOf(connection) })),
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

/** Looks at what is there, on a connection of its own. */
export function inspecting<T>(
  connections: Connections,
  work: (session: SqlSession) => Promise<T>,
  sessionOf: SessionOf,
): Promise<T> {
  return withConnection(connections, Lifetime.unlimited(), (connection) =>
    work(sessionOf(connection)),
  );
}

type Exec = (text: string) => Promise<void>;

async function withConnection<T>(
  connections: Connections,
  lifetime: Lifetime,
  work: (connection: HeldConnection, exec: Exec) => Promise<T>,
): Promise<T> {
  const connection = await connections.acquire({ lifetime, payer: null });
  // A connection that is given up takes its settings and its lock with it.
  let isBroken = true;
  try {
    const result = await work(connection, async (text) => {
      await connection.query({ text }, lifetime);
    });
    isBroken = false;
    return result;
  } catch (error) {
    throw translated(error);
  } finally {
    connection.release(isBroken);
  }
}

/** A lifetime that ends when somebody says so; its statement is cancelled then. */
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

/** A transaction that gives way: it waits for locks for less than a second, and is begun anew where that is too short. */
async function tried<T>(exec: Exec, work: () => Promise<T>): Promise<T> {
  await exec(`SET lock_timeout = ${lockMillis}`);
  for (let tries = 1; ; tries += 1) {
    try {
      await exec("BEGIN");
      const result = await work();
      await exec("COMMIT");
      return result;
    } catch (error) {
      // What cannot be repeated gives the connection up, and with it what is open there.
      if (tries === maxTries || !isPassing(error)) throw error;
      await exec("ROLLBACK");
      await sleep(pauseMillis * (0.5 + Math.random()));
    }
  }
}

/** The code of the server stands in the error, or in what it was made of. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return (typeof code === "string" && passing.has(code)) || isPassing(error.cause);
}
