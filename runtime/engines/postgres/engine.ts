// The production engine: PostgreSQL with pools, named prepared statements and one connection per
// transaction.
import { unavailable } from "../../contract/errors.js";
import {
  noReplica,
  noteUndone,
  type Database,
  type EngineState,
  type Transaction,
  type WriteOptions,
} from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import { ofService, type Work } from "../../ports/work.js";
import { tryHold } from "../sql/held-names.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationConnection, MigrationTarget, MigrationWatch } from "../sql/migrations.js";
import { noteProbe } from "../sql/probe.js";
import { NamedTurns } from "../../work/named-turns.js";
import { readsOnly, type SqlSession } from "../sql/session.js";
import { SqlTransaction, type SqlStores } from "../sql/stores.js";
import { tracedSession } from "../sql/traced-session.js";
import { openConnections, type PostgresConnections, type HeldConnection } from "./connections.js";
import { needsDirectUrl, translateFault, withoutTable } from "./faults.js";
import { postgresDialect } from "./dialect.js";
import { loadDriver, typeParserOf } from "./driver.js";
import { inspectDatabase, withMigrationLock } from "./migrating.js";
import { OpenTransaction } from "./open-transaction.js";
import { Replica } from "./replica.js";
import { sessionOver } from "./statements.js";

/** Connections for migrations: one that migrates, and one that watches it. */
const directSize = 3;
const probeMillis = 2_000;
const probeBytes = 16;

export interface PostgresOptions {
  /** Connections in all. */
  readonly connections: number;
  /** The longest deadline of any operation. */
  readonly longestSeconds: number;
  /** Tables that the service can't do without, besides its own. */
  readonly tables: readonly string[];
  /** Whether a pooler lends sessions for a transaction each. */
  readonly isPooled: boolean;
  /** Where migrations connect, to a session of their own; null if they can't. */
  readonly directUrl: string | null;
  /** A replica that lists may be read from; null if there is none. */
  readonly replicaUrl: string | null;
  readonly log: Log;
}

/**
 * Opens the engine. The first statement opens the first connection. Throws if the package `pg` is
 * not installed.
 */
export async function openPostgresDatabase(
  url: string,
  stores: SqlStores,
  { connections: size, longestSeconds, tables, isPooled, directUrl, ...more }: PostgresOptions,
): Promise<Database & MigrationTarget> {
  const pg = await loadDriver();
  const openTo: OpenConnections = (to, connectionCount, isShared, setting) =>
    openConnections(pg, {
      url: to,
      setting,
      size: connectionCount,
      isShared,
      // Deadlines cancel earlier. This is for statements that nobody is left to cancel.
      statementMillis: (longestSeconds + 5) * 1000,
      typeParser: typeParserOf(pg),
    });
  const connections = openTo(url, size, isPooled);
  const migrating = migratingWay({ url, isPooled, directUrl }, connections, openTo);
  const toReplica =
    more.replicaUrl === null ? null : openTo(more.replicaUrl, size, false, "DATABASE_REPLICA_URL");
  const replica = toReplica && new Replica(connections, toReplica, more.log);

  const turns = new NamedTurns();
  const write = writerTo(connections, stores, tables);
  const read = (work: Work): Transaction =>
    new SqlTransaction(readSession({ connections, replica }, work, tables), stores);

  return {
    read,

    get reader() {
      return read(ofService());
    },

    write: ({ lifetime, payer = null, trace, ...options }, work) => {
      const its = { lifetime, payer, trace };
      const run = () => write(its, options, work);
      // Of a process, only the next one waits with a connection.
      return options.turn === undefined ? run() : turns.take(options.turn, its, run);
    },

    admit: () => connections.admit(ofService(probeMillis)),

    async probe() {
      await connections.admit(ofService(probeMillis));
      await write(ofService(probeMillis), {}, ({ leases }) => noteProbe(leases, probeBytes));
      await checkRights(readSession({ connections }, ofService(probeMillis), tables), tables);
    },

    state: (): EngineState => ({
      reading: connections.callers.state,
      writing: connections.service.state,
      replica: replica?.state ?? noReplica,
    }),

    async close() {
      await Promise.all(
        [...new Set([connections, migrating, toReplica])].map((one) => one?.close()),
      );
    },

    archive: null,

    engine: "postgres",

    migrate: (work, watch) => migrateOn(migrating, connections, work, watch),
    inspect: (work) => inspectDatabase(connections, work, inspectionOf),
  };
}

/** Makes the function that runs work in one transaction on a connection of its own. */
function writerTo(connections: PostgresConnections, stores: SqlStores, tables: readonly string[]) {
  return async <T>(
    work: Work,
    { exclusive, turn }: Pick<WriteOptions, "exclusive" | "turn">,
    run: (transaction: Transaction) => Promise<T>,
  ): Promise<T> => {
    const { lifetime } = work;
    const connection = await connections.acquire(work);
    const open = new OpenTransaction(connection, lifetime);
    let isBroken = false;
    let isCommitting = false;
    try {
      if (turn !== undefined) await open.session.all(postgresDialect.holdName, [turn]);
      const isHeld = exclusive === undefined ? undefined : takeExclusive(open.session, exclusive);
      if (isHeld !== undefined) open.answerBehind(isHeld);
      const session = tracedSession(open.session, work.trace, "postgresql");
      const transaction = new SqlTransaction(session, stores, (part) => open.attempt(part));
      const [value] = await lifetime.limit(Promise.all([run(transaction), isHeld]));
      open.expectIdle();
      open.end();
      await open.allSent();
      lifetime.throwIfOver();
      lifetime.decide();
      isCommitting = true;
      await open.commit(lifetime);
      return value;
    } catch (error) {
      open.end();
      // After a COMMIT that failed or was not answered, no rollback is tried: the connection is
      // destroyed.
      isBroken = isCommitting ? !open.isUndone : !(await open.rollBack());
      const told = withoutTable(translateFault(error), tables);
      if (!isCommitting || open.isUndone) noteUndone(told);
      throw told;
    } finally {
      connection.release(isBroken);
    }
  };
}

type OpenConnections = (
  url: string,
  size: number,
  isShared: boolean,
  setting?: string,
) => PostgresConnections;

/** The connections for migrations, which have sessions of their own; null if there can be none. */
function migratingWay(
  { url, isPooled, directUrl }: Pick<PostgresOptions, "isPooled" | "directUrl"> & { url: string },
  connections: PostgresConnections,
  openTo: OpenConnections,
): PostgresConnections | null {
  if (directUrl === null) return isPooled ? null : connections;
  if (directUrl === url && !isPooled) return connections;
  return openTo(directUrl, directSize, false, "DATABASE_DIRECT_URL");
}

/** Migrates, where there are sessions of one's own for it. */
async function migrateOn<Value>(
  migrating: PostgresConnections | null,
  serving: PostgresConnections,
  work: (connection: MigrationConnection) => Promise<Value>,
  watch: MigrationWatch | undefined,
): Promise<Value> {
  if (migrating === null) throw needsDirectUrl();
  // The sessions that serve are looked at as well: they have a way of their own.
  if (serving !== migrating) await inspectDatabase(serving, async () => undefined, inspectionOf);
  return withMigrationLock(migrating, work, transactionOf, watch);
}

/** The session of a migration: without a deadline, on the migration's connection. */
function transactionOf(connection: HeldConnection): SqlSession {
  return sessionOver((statement) => connection.query(statement, Lifetime.unlimited()));
}

/** The session of an inspection, whose statements are in no transaction. */
function inspectionOf(connection: HeldConnection): SqlSession {
  return sessionOver((statement) => connection.queryAlone(statement, Lifetime.unlimited()));
}

/** What is read from. */
interface Readers {
  readonly connections: PostgresConnections;
  readonly replica?: Replica | null;
}

/**
 * Reads committed state. Each statement takes a connection for itself, on the account of the work's
 * payer.
 */
function readSession(
  { connections, replica = null }: Readers,
  work: Work,
  tables: readonly string[],
): SqlSession {
  const ask = work.takesReplica === true ? replica?.asker(work) : undefined;
  const reading = sessionOver(async (statement) => {
    const found = await ask?.(statement);
    if (found !== undefined && found !== null) return found;
    const connection = await connections.acquire(work);
    try {
      return await connection.queryAlone(statement, work.lifetime);
    } catch (error) {
      throw withoutTable(error, tables);
    } finally {
      connection.release();
    }
  });
  const refuse = () => Promise.reject(readsOnly());
  const session = { ...reading, run: refuse, runPipelined: refuse };
  return tracedSession(session, work.trace, "postgresql");
}

/**
 * Rejects if the role has lost the right to read or to fill one of these tables, or one of
 * opwright's own. Others in the schema may be somebody else's; rights to change and delete rows may
 * be withheld from tables that only grow.
 */
async function checkRights(session: SqlSession, tables: readonly string[]): Promise<void> {
  const [row] = await session.all(
    `SELECT c.relname AS "table" FROM pg_class c JOIN pg_class l ON l.relnamespace = c.relnamespace
     WHERE l.oid = to_regclass('opwright_leases') AND c.relkind IN ('r', 'p')
       AND (c.relname = ANY($1::text[]) OR starts_with(c.relname, 'opwright_'))
       AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')) LIMIT 1`,
    [tables],
  );
  if (row !== undefined)
    throw unavailable(
      new Error(`the role may not read and fill the table ${String(row["table"])}`),
    );
}

/**
 * Holds a name until the transaction ends. Throws `idempotency_in_flight` if another transaction
 * holds it.
 */
async function takeExclusive(session: SqlSession, name: string): Promise<void> {
  if ((await tryHold(session, [name])).length === 0) throw inFlight();
}
