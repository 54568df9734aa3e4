// A SQLite connection that keeps its prepared statements, and the sessions of readers and writers.
import type { Work } from "../../ports/work.js";
import type { SqlValue } from "../sql/dialect/values.js";
import {
  hasEnded,
  readsOnly,
  stillRunning,
  type ScanColumns,
  type SqlRow,
  type SqlSession,
} from "../sql/session.js";
import { sqliteDialect } from "./dialect.js";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./driver.js";
import { translateFault } from "./faults.js";
import { ScanningConnection, type SqliteReaders } from "./readers.js";
import { StatementCache } from "./statement-cache.js";
import { monotonicMillis, nextTurn } from "../../ports/ambient.js";

const maxPrepared = 512;
/** Milliseconds after which a transaction of many statements yields the event loop to others. */
const stretchMillis = 20;

/**
 * A connection with its prepared statements, for synchronous use. Translates SQLite's errors to
 * codes of the error table.
 */
export class PreparedConnection {
  readonly #connection: SqliteConnection;
  readonly #prepared: StatementCache<SqliteStatement>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#prepared = new StatementCache(maxPrepared, (text) => connection.prepare(text));
  }

  all(text: string, parameters: readonly SqlValue[]): readonly SqlRow[] {
    try {
      return this.#prepared.get(text).all(parameters.map(bound));
    } catch (error) {
      throw translateFault(error);
    }
  }

  run(text: string, parameters: readonly SqlValue[]): number {
    try {
      return this.#prepared.get(text).run(parameters.map(bound));
    } catch (error) {
      throw translateFault(error);
    }
  }

  exec(text: string): void {
    try {
      this.#connection.exec(text);
    } catch (error) {
      throw translateFault(error);
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#connection.close();
  }
}

/**
 * The writer's connection, with two interfaces: synchronous, and for queries of its transactions
 * that may take long.
 */
export class WritingConnection {
  readonly prepared: PreparedConnection;
  readonly scanning: ScanningConnection;

  constructor(connection: SqliteConnection) {
    this.prepared = new PreparedConnection(connection);
    this.scanning = new ScanningConnection(connection);
  }

  /** Must not be called during a scan. */
  close(): void {
    this.prepared.close();
  }
}

/**
 * Reads committed state: by key synchronously, and everything else on the readers, on the account
 * of the work's payer.
 */
export class SqliteReadSession implements SqlSession {
  readonly dialect = sqliteDialect;
  readonly #keyed: PreparedConnection;
  readonly #readers: SqliteReaders;
  readonly #work: Work;

  constructor(keyed: PreparedConnection, readers: SqliteReaders, work: Work) {
    this.#keyed = keyed;
    this.#readers = readers;
    this.#work = work;
  }

  async all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#keyed.all(text, parameters);
  }

  run(): Promise<never> {
    return Promise.reject(readsOnly());
  }

  runPipelined(): Promise<never> {
    return this.run();
  }

  scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    return this.#readers.scan(this.#work, text, parameters.map(bound), columns);
  }
}

/**
 * A session of the writer, which runs one statement at a time. Once its transaction has ended,
 * every call rejects.
 */
export class SqliteWriteSession implements SqlSession {
  readonly dialect = sqliteDialect;
  readonly #connection: PreparedConnection;
  readonly #scanning: ScanningConnection;
  readonly #work: Work;
  readonly #isOpen: () => boolean;
  /** When it last yielded the event loop, on the clock of `monotonicMillis`. */
  #since = monotonicMillis();
  #running = 0;

  constructor({ prepared, scanning }: WritingConnection, work: Work, isOpen: () => boolean) {
    this.#connection = prepared;
    this.#scanning = scanning;
    this.#work = work;
    this.#isOpen = isOpen;
  }

  /** Throws `core.internal` if statements are under way. */
  expectIdle(): void {
    if (this.#running > 0) throw stillRunning(this.#running);
  }

  /**
   * Runs what belongs to the transaction itself, such as a savepoint, once no scan is under way. If
   * the transaction has ended, it does nothing.
   */
  async exec(text: string): Promise<void> {
    while (this.#scanning.isBusy) await this.#scanning.idle();
    if (this.#isOpen()) this.#connection.exec(text);
  }

  all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#counted(() => this.#connection.all(text, parameters));
  }

  run(text: string, parameters: readonly SqlValue[]): Promise<number> {
    return this.#counted(() => this.#connection.run(text, parameters));
  }

  async runPipelined(text: string, parameters: readonly SqlValue[]): Promise<void> {
    await this.run(text, parameters);
  }

  scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    return this.#counted(() =>
      this.#scanning.scan(this.#work.lifetime, text, parameters.map(bound), columns),
    );
  }

  /**
   * Runs a statement once no scan is under way, since a handler may run some at once. Throws if the
   * transaction has ended.
   */
  async #counted<T>(run: () => T | Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      if (monotonicMillis() - this.#since > stretchMillis) {
        await nextTurn();
        this.#since = monotonicMillis();
      }
      // Nothing comes between the last look and the statement, so no two have it at once.
      while (this.#scanning.isBusy) await this.#scanning.idle();
      if (!this.#isOpen()) throw hasEnded();
      return await run();
    } finally {
      this.#running -= 1;
    }
  }
}

function bound(value: SqlValue): SqliteValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return value;
}
