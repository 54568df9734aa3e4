// The embedded engine: one SQLite file in WAL mode, one writer with group commit, and readers that
// can be interrupted.
import { Bulkhead } from "../../work/bulkhead.js";
import {
  noReplica,
  type Database,
  type EngineState,
  type Transaction,
} from "../../ports/database.js";
import type { Log } from "../../ports/log.js";
import { ofService, type Payer, type Work } from "../../ports/work.js";
import { noteProbe } from "../sql/probe.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationTarget, MigrationTransaction } from "../sql/migrations.js";
import { hasEnded } from "../sql/session.js";
import { SqlTransaction, type SqlStores } from "../sql/stores.js";
import { tracedSession } from "../sql/traced-session.js";
import { openSqlite, reserveThreads, type SqliteConnection } from "./driver.js";
import { takeFileLock } from "./file-lock.js";
import { openHeldLog } from "./held-log.js";
import { makePrivateDatabase } from "./private-database.js";
import { expectNotRestoring } from "./restoring.js";
import { SqliteReaders } from "./readers.js";
import {
  PreparedConnection,
  SqliteReadSession,
  SqliteWriteSession,
  WritingConnection,
} from "./session.js";
import { SqliteWriter, type Writing } from "./writer.js";

export interface SqliteOptions {
  /** How many connections read without blocking the event loop. */
  readonly readers: number;
  /** Whether a continuous backup moves the log into the database; otherwise commits do. */
  readonly isArchived: boolean;
  readonly log: Log;
}

/**
 * Transactions that may be queued for the writer, in all and per payer, and how many more may wait
 * for that.
 */
const writes = { size: 256, share: 64, maxWaiting: 4_096, maxWaitingPerPayer: 1_024 };
/** Pages in the log with which commits move it themselves, if no backup does. */
const archivedPages = 4_000;
const probeMillis = 2_000;
/** More than a page: like callers' writes, a probe needs pages of its own. */
const probeBytes = 6_000;
/** Queries that may wait for a reader, in all and per payer. */
const reads = { maxWaiting: 4_096, maxWaitingPerPayer: 1_024 };

/**
 * Opens the database at `path`, creating the file and its folder if needed. Other processes may
 * open the same file. Throws `core.conflict` while it is being restored.
 */
export function openSqliteDatabase(
  path: string,
  stores: SqlStores,
  { readers: size, isArchived, log }: SqliteOptions,
): Database & MigrationTarget {
  expectNotRestoring(path);
  makePrivateDatabase(path);
  // One more for the writer's own scans.
  reserveThreads(size + 1);
  const open = (pragmas: string): SqliteConnection => openSynced(path, pragmas);
  // The writer waits for other processes without blocking this one (see writer.ts).
  const checkpointing = isArchived ? `PRAGMA wal_autocheckpoint = ${archivedPages};` : "";
  const writing = new WritingConnection(open(`PRAGMA busy_timeout = 0; ${checkpointing}`));
  const keyed = new PreparedConnection(open("PRAGMA query_only = ON;"));
  const reading = new Bulkhead({ ...reads, what: "the database", size, shareOf: shareOf(size) });
  const readers = new SqliteReaders(() => open("PRAGMA query_only = ON;"), reading);
  const writer = new SqliteWriter(writing, log);
  const queue = new Bulkhead({ ...writes, what: "the database", shareOf: () => writes.share });
  const held = new Set<string>();

  const write = <T>(work: Writing, run: (transaction: Transaction) => Promise<T>): Promise<T> =>
    queue.within(work, () =>
      writer.run(work, async (connection, isOpen) => {
        const session = new SqliteWriteSession(connection, work, isOpen);
        const value = await run(writeTransaction(session, work, stores, isOpen));
        session.expectIdle();
        return value;
      }),
    );

  const read = (work: Work): Transaction =>
    new SqlTransaction(
      tracedSession(new SqliteReadSession(keyed, readers, work), work.trace, "sqlite"),
      stores,
    );

  return {
    read,

    get reader() {
      return read(ofService());
    },

    async write({ lifetime, exclusive, payer = null, operation = "", trace }, work) {
      const own = { lifetime, payer, operation, trace };
      if (exclusive === undefined) return write(own, work);
      return alone(held, exclusive, () => write(own, work));
    },

    // Whoever could open the file reads it.
    admit: async () => undefined,

    async probe() {
      // A busy writer is no fault, and the end of its transaction tells as much as a probe's would.
      if (writer.isBusy && writer.fault === undefined) return;
      const work = { ...ofService(probeMillis), operation: "readiness" };
      await write(work, ({ leases }) => noteProbe(leases, probeBytes));
    },

    state: (): EngineState => ({
      reading: reading.state,
      writing: queue.state,
      replica: noReplica,
    }),

    async close() {
      await writer.idle();
      await readers.close();
      keyed.close();
      writing.close();
    },

    archive: {
      path,
      takeTurn: () => takeFileLock(`${path}-backup-turn`),
      open: () => openHeldLog({ path, open, betweenWrites: (work) => writer.between(work) }),
    },

    engine: "sqlite",

    async migrate(work) {
      await writer.idle();
      return work({
        transaction: (inside) => runMigrationPart(writing, inside),
        online: (statement) => runMigrationPart(writing, ({ exec }) => exec(statement)),
      });
    },

    async inspect(work) {
      await writer.idle();
      return runMigrationPart(writing, ({ session }) => work(session));
    },
  };
}

/**
 * Runs `work`. Throws `idempotency_in_flight` if the name is held already. BEGIN IMMEDIATE holds
 * off other processes.
 */
async function alone<T>(held: Set<string>, name: string, work: () => Promise<T>): Promise<T> {
  if (held.has(name)) throw inFlight();
  held.add(name);
  try {
    return await work();
  } finally {
    held.delete(name);
  }
}

/** Opens a connection whose commits are synced to disk before they are acknowledged. */
function openSynced(path: string, pragmas: string): SqliteConnection {
  const connection = openSqlite(path);
  try {
    connection.exec(
      `PRAGMA busy_timeout = 250; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA case_sensitive_like = ON; ${pragmas}`,
    );
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Runs a part of a migration in a transaction. Waits up to 5 s for other processes, which blocks
 * the event loop.
 */
async function runMigrationPart<T>(
  connection: WritingConnection,
  work: (transaction: MigrationTransaction) => Promise<T>,
): Promise<T> {
  const { prepared } = connection;
  prepared.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE");
  try {
    const result = await work({
      exec: async (text) => prepared.exec(text),
      session: new SqliteWriteSession(connection, ofService(), () => true),
    });
    prepared.exec("COMMIT");
    return result;
  } catch (error) {
    prepared.exec("ROLLBACK");
    throw error;
  } finally {
    prepared.exec("PRAGMA busy_timeout = 0");
  }
}

/** A transaction of the writer. If a nested attempt fails, only that attempt is undone. */
function writeTransaction(
  session: SqliteWriteSession,
  { trace }: Pick<Work, "trace">,
  stores: SqlStores,
  isOpen: () => boolean,
): Transaction {
  let attempts = 0;
  return new SqlTransaction(tracedSession(session, trace, "sqlite"), stores, async (run) => {
    if (!isOpen()) throw hasEnded();
    const savepoint = `attempt_${(attempts += 1)}`;
    await session.exec(`SAVEPOINT ${savepoint}`);
    try {
      const value = await run();
      await session.exec(`RELEASE ${savepoint}`);
      return value;
    } catch (error) {
      await session.exec(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
      throw error;
    }
  });
}

/** A signed-in payer may hold half of the readers, an anonymous one a quarter. */
function shareOf(size: number): (payer: Payer) => number {
  return ({ isAnonymous }) => size / (isAnonymous ? 4 : 2);
}
