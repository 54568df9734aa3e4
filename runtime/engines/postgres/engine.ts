// The production engine: PostgreSQL with pools, named prepared statements and one connection per
// transaction.
import { unavailable } from "../../contract/errors.js";
import type { Database, EngineState, Transaction, WriteOptions } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import { ofService, type Work } from "../../ports/work.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationTarget } from "../sql/migrations.js";
import { noteProbe } from "../sql/probe.js";
import { NamedTurns } from "../../work/named-turns.js";
import { readsOnly, type SqlSession } from "../sql/session.js";
import { SqlTransaction, type SqlStores } from "../sql/stores.js";
import { openConnections, type PostgresConnections, type HeldConnection } from "./connections.js";
import { translateFault, withoutTable } from "./faults.js";
import { postgresDialect } from "./dialect.js";
import { inspectDatabase, withMigrationLock } from "./migrating.js";
import { OpenTransaction } from "./open-transaction.js";
import { sessionOver } from "./statements.js";

const probeMillis = 2_000;
const probeBytes = 16;

export interface PostgresOptions {
  /** Connections in all. */
  readonly connections: number;
  /** The longest deadline of any operation. */
  readonly longestSeconds: number;
  /** Tables that the service can't do without, besides its own. */
  readonly tables: readonly string[];
}

/**
 * Opens the engine. The first statement opens the first connection. Throws if the package `pg` is
 * not installed.
 */
export async function openPostgresDatabase(
  url: string,
  stores: SqlStores,
  { connections: size, longestSeconds, tables }: PostgresOptions,
): Promise<Database & MigrationTarget> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("PostgreSQL needs the package pg: npm install pg", { cause });
  });
  const connections = openConnections(pg, {
    url,
    size,
    // Deadlines cancel earlier. This is for statements that nobody is left to cancel.
    statementMillis: (longestSeconds + 5) * 1000,
    typeParser: (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format),
  });

  const turns = new NamedTurns();
  const write = async <T>(
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
      if (exclusive !== undefined) await takeExclusive(open.session, exclusive);
      const transaction = new SqlTransaction(open.session, stores, (inside) =>
        open.attempt(inside),
      );
      const value = await lifetime.limit(run(transaction));
      open.expectIdle();
      lifetime.throwIfOver();
      open.end();
      lifetime.decide();
      isCommitting = true;
      await open.commit(lifetime);
      return value;
    } catch (error) {
      open.end();
      // After a COMMIT that failed or was not answered, no rollback is tried: the connection is
      // destroyed.
      isBroken = isCommitting || !(await open.rollBack());
      throw withoutTable(translateFault(error), tables);
    } finally {
      connection.release(isBroken);
    }
  };

  const read = (work: Work): Transaction =>
    new SqlTransaction(readSession(connections, work, tables), stores);

  return {
    read,

    get reader() {
      return read(ofService());
    },

    write: ({ lifetime, payer = null, ...options }, work) => {
      const its = { lifetime, payer };
      const run = () => write(its, options, work);
      // Of a process, only the next one waits with a connection.
      return options.turn === undefined ? run() : turns.take(options.turn, its, run);
    },

    admit: () => connections.admit(ofService(probeMillis)),

    async probe() {
      await connections.admit(ofService(probeMillis));
      await write(ofService(probeMillis), {}, ({ leases }) => noteProbe(leases, probeBytes));
      await checkRights(readSession(connections, ofService(probeMillis), tables), tables);
    },

    state: (): EngineState => ({
      reading: connections.callers.state,
      writing: connections.service.state,
    }),

    close: () => connections.close(),

    engine: "postgres",

    migrate: (work, watch) => withMigrationLock(connections, work, transactionOf, watch),
    inspect: (work) => inspectDatabase(connections, work, transactionOf),
  };
}

/** The session of a migration: without a deadline, on the migration's connection. */
function transactionOf(connection: HeldConnection): SqlSession {
  return sessionOver((statement) => connection.query(statement, Lifetime.unlimited()));
}

/**
 * Reads values by their type's OID: JSON stays text, 64-bit integers become numbers, timestamps RFC
 * 3339 in UTC.
 */
const readers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [114, (text) => text],
  [3802, (text) => text],
  [1184, (text) => new Date(text).toISOString()],
]);

/**
 * Reads committed state. Each statement takes a connection for itself, on the account of the work's
 * payer.
 */
function readSession(
  connections: PostgresConnections,
  work: Work,
  tables: readonly string[],
): SqlSession {
  const reading = sessionOver(async (statement) => {
    const connection = await connections.acquire(work);
    try {
      return await connection.query(statement, work.lifetime);
    } catch (error) {
      throw withoutTable(error, tables);
    } finally {
      connection.release();
    }
  });
  return { ...reading, run: () => Promise.reject(readsOnly()) };
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
  const [row] = await session.all(
    `SELECT pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) AS "taken"`,
    [name],
  );
  if (row?.["taken"] !== true) throw inFlight();
}
