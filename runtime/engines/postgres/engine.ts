// The production engine: PostgreSQL through pools, named prepared statements, one connection a transaction.
import { createHash } from "node:crypto";
import { fail, ServiceError } from "../../contract/errors.js";
import type { Database, EngineState, Transaction } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import { ofService, type Work } from "../../ports/work.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationTarget } from "../sql/migrations.js";
import { noteProbe } from "../sql/probe.js";
import {
  hasEnded,
  readsOnly,
  type SqlRow,
  type SqlSession,
  type SqlValue,
} from "../sql/session.js";
import { SqlTransaction, type SqlStores } from "../sql/stores.js";
import {
  answeredIn,
  openConnections,
  type Connections,
  type HeldConnection,
} from "./connections.js";
import { postgresDialect } from "./dialect.js";
import { translated } from "./faults.js";
import { inspecting, migrating } from "./migrating.js";

const probeMillis = 2_000;
/** What is left for an answer to COMMIT and ROLLBACK at least, in milliseconds. */
const settleMillis = 1_000;

export interface PostgresOptions {
  /** Connections in all. */
  readonly connections: number;
  /** The longest deadline of an operation. */
  readonly longestSeconds: number;
}

/** Connects lazily: the first statement opens the first connection. */
export async function openPostgresDatabase(
  url: string,
  stores: SqlStores,
  { connections: size, longestSeconds }: PostgresOptions,
): Promise<Database & MigrationTarget> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("PostgreSQL needs the package pg: npm install pg", { cause });
  });
  const connections = openConnections(pg, {
    url,
    size,
    // Deadlines cancel before; this one is for what nobody is left to cancel.
    statementMillis: (longestSeconds + 5) * 1000,
    typeParser: (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format),
  });

  const write = async <T>(
    work: Work,
    exclusive: string | undefined,
    run: (transaction: Transaction) => Promise<T>,
  ): Promise<T> => {
    const { lifetime } = work;
    const connection = await connections.acquire(work);
    let isOpen = true;
    let isBroken = false;
    let isCommitting = false;
    try {
      const session = new TransactionSession(connection, lifetime, () => isOpen);
      await connection.query({ text: "BEGIN" }, lifetime);
      if (exclusive !== undefined) await takeExclusive(session, exclusive);
      const value = await lifetime.race(run(transactionOn(session, stores)));
      lifetime.throwIfOver();
      isOpen = false;
      lifetime.decide();
      isCommitting = true;
      await committed(connection, lifetime);
      return value;
    } catch (error) {
      isOpen = false;
      // Nothing is waited for behind a commit that was not answered.
      isBroken = isCommitting || !(await rolledBack(connection));
      throw translated(error);
    } finally {
      connection.release(isBroken);
    }
  };

  const read = (work: Work): Transaction =>
    new SqlTransaction(new ReadSession(connections, work), stores);

  return {
    read,

    get reader() {
      return read(ofService());
    },

    write: ({ lifetime, exclusive, payer = null }, work) =>
      write({ lifetime, payer }, exclusive, work),

    probe: () => write(ofService(probeMillis), undefined, ({ leases }) => noteProbe(leases)),

    state: (): EngineState => ({
      reading: connections.callers.state,
      writing: connections.service.state,
    }),

    close: () => connections.close(),

    engine: "postgres",

    migrate: (work, watch) => migrating(connections, work, transactionOf, watch),
    inspect: (work) => inspecting(connections, work, transactionOf),
  };
}

/** The session of a migration on its connection. */
function transactionOf(connection: HeldConnection): SqlSession {
  return new TransactionSession(connection, Lifetime.unlimited(), () => true);
}

/** Values as the port has them: JSON stays text, 64-bit integers are numbers, timestamps are RFC 3339 in UTC. */
const readers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [114, (text) => text],
  [3802, (text) => text],
  [1184, (text) => new Date(text).toISOString()],
]);

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

function statementOf(text: string, parameters: readonly SqlValue[]) {
  const name = statementName(text);
  const values = [...parameters];
  return name === undefined ? { text, values } : { name, text, values };
}

/** Committed state: each statement takes a connection for itself, as the work's. */
class ReadSession implements SqlSession {
  readonly dialect = postgresDialect;
  readonly #connections: Connections;
  readonly #work: Work;

  constructor(connections: Connections, work: Work) {
    this.#connections = connections;
    this.#work = work;
  }

  async all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    const connection = await this.#connections.acquire(this.#work);
    try {
      return (await connection.query(statementOf(text, parameters), this.#work.lifetime)).rows;
    } finally {
      connection.release();
    }
  }

  scan(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.all(text, parameters);
  }

  run(): Promise<number> {
    return Promise.reject(readsOnly());
  }
}

/** A session of one transaction, which refuses to work once that has ended. */
class TransactionSession implements SqlSession {
  readonly dialect = postgresDialect;
  readonly #connection: HeldConnection;
  readonly #lifetime: Lifetime;
  readonly #isOpen: () => boolean;

  constructor(connection: HeldConnection, lifetime: Lifetime, isOpen: () => boolean) {
    this.#connection = connection;
    this.#lifetime = lifetime;
    this.#isOpen = isOpen;
  }

  async all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return (await this.#query(text, parameters)).rows;
  }

  scan(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.all(text, parameters);
  }

  async run(text: string, parameters: readonly SqlValue[]): Promise<number> {
    return (await this.#query(text, parameters)).rowCount ?? 0;
  }

  async #query(text: string, parameters: readonly SqlValue[]) {
    if (!this.#isOpen()) throw hasEnded();
    return this.#connection.query(statementOf(text, parameters), this.#lifetime);
  }
}

function transactionOn(session: SqlSession, stores: SqlStores): Transaction {
  return new SqlTransaction(session, stores, async (work) => {
    await session.run("SAVEPOINT attempt", []);
    try {
      const value = await work();
      await session.run("RELEASE SAVEPOINT attempt", []);
      return value;
    } catch (error) {
      if (!isOver(error)) {
        await session.run("ROLLBACK TO SAVEPOINT attempt", []);
        // It would stand before the one around it, which has the same name.
        await session.run("RELEASE SAVEPOINT attempt", []);
      }
      throw error;
    }
  });
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

/**
 * Commits. The deadline ends nothing any more, but a server that does not say within it whether it has is not waited for:
 * then nobody knows, and the answer is 503. With an idempotency key the request may be repeated.
 */
async function committed(connection: HeldConnection, lifetime: Lifetime): Promise<void> {
  const millis = Math.max(settleMillis, Math.min(lifetime.remainingMillis, 60_000));
  const { command } = await answeredIn(
    millis,
    connection.query({ text: "COMMIT" }, Lifetime.unlimited()),
  );
  // PostgreSQL answers COMMIT with ROLLBACK where an earlier statement failed, and raises no error.
  if (command === "COMMIT") return;
  const cause = new Error("the transaction was aborted");
  throw fail("core.infrastructure", {}, { cause });
}

/** Undoes the transaction; false where the connection is of no use any more. */
async function rolledBack(connection: HeldConnection): Promise<boolean> {
  try {
    // What ran at the end of the lifetime is being cancelled.
    await answeredIn(2 * settleMillis, connection.idle());
    await answeredIn(settleMillis, connection.query({ text: "ROLLBACK" }, Lifetime.unlimited()));
    return true;
  } catch {
    return false;
  }
}
