// Statements on one SQLite connection, prepared once and kept, in least-recently-used order; and sessions over them.
import { setImmediate } from "node:timers/promises";
import type { Work } from "../../ports/work.js";
import {
  hasEnded,
  readsOnly,
  type ScanColumns,
  type SqlRow,
  type SqlSession,
  type SqlValue,
} from "../sql/session.js";
import { sqliteDialect } from "./dialect.js";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./driver.js";
import { translated } from "./faults.js";
import { ScanningConnection, type SqliteReaders } from "./readers.js";
import { StatementCache } from "./statement-cache.js";

const maxPrepared = 512;
/** After so long, a transaction of many statements lets others have the event loop, in milliseconds. */
const stretchMillis = 20;

/** A connection with its prepared statements. Errors of SQLite become codes of the error table. */
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
      throw translated(error);
    }
  }

  run(text: string, parameters: readonly SqlValue[]): number {
    try {
      return this.#prepared.get(text).run(parameters.map(bound));
    } catch (error) {
      throw translated(error);
    }
  }

  exec(text: string): void {
    try {
      this.#connection.exec(text);
    } catch (error) {
      throw translated(error);
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#connection.close();
  }
}

/** The connection of the writer, and the same one for queries of its transactions that may take long. */
export class WritingConnection {
  readonly prepared: PreparedConnection;
  readonly scanning: ScanningConnection;

  constructor(connection: SqliteConnection) {
    this.prepared = new PreparedConnection(connection);
    this.scanning = new ScanningConnection(connection);
  }

  /** Never while something is scanned. */
  close(): void {
    this.prepared.close();
  }
}

/** Committed state: reads by key at once, everything else on the readers, as the work's. */
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

  run(): Promise<number> {
    return Promise.reject(readsOnly());
  }

  scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    return this.#readers.scan(this.#work, text, parameters.map(bound), columns);
  }
}

/** A session of the writer, which refuses to work once its transaction has ended. One statement at a time. */
export class SqliteWriteSession implements SqlSession {
  readonly dialect = sqliteDialect;
  readonly #connection: PreparedConnection;
  readonly #scanning: ScanningConnection;
  readonly #work: Work;
  readonly #isOpen: () => boolean;
  /** When it last had to wait for its turn. */
  #since = performance.now();

  constructor({ prepared, scanning }: WritingConnection, work: Work, isOpen: () => boolean) {
    this.#connection = prepared;
    this.#scanning = scanning;
    this.#work = work;
    this.#isOpen = isOpen;
  }

  async all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    await this.#ready();
    return this.#connection.all(text, parameters);
  }

  async run(text: string, parameters: readonly SqlValue[]): Promise<number> {
    await this.#ready();
    return this.#connection.run(text, parameters);
  }

  async scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    await this.#ready();
    return this.#scanning.scan(this.#work.lifetime, text, parameters.map(bound), columns);
  }

  /** A handler may have asked two things at once: the second waits for the first. */
  async #ready(): Promise<void> {
    while (this.#scanning.isBusy) await this.#scanning.idle();
    if (performance.now() - this.#since > stretchMillis) {
      await setImmediate();
      this.#since = performance.now();
    }
    if (!this.#isOpen()) throw hasEnded();
  }
}

function bound(value: SqlValue): SqliteValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return value;
}
