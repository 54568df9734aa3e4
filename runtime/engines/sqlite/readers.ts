// Readers of a SQLite database for queries that may take long. Each is a connection whose
// statements run on another thread and end at the deadline or when the caller leaves
// (architecture.md "Work is bounded").
import { unavailable } from "../../contract/errors.js";
import type { Bulkhead } from "../../work/bulkhead.js";
import type { Lifetime } from "../../ports/lifetime.js";
import type { Work } from "../../ports/work.js";
import { quoteName, withParts, type ScanColumns, type SqlRow } from "../sql/session.js";
import type { SqliteConnection, SqliteScan, SqliteValue } from "./driver.js";
import { isInterrupted, translateFault } from "./faults.js";
import { StatementCache } from "./statement-cache.js";
import { sleep, startInterval } from "../../ports/ambient.js";

const maxPrepared = 64;
/** Milliseconds between interrupts: one that comes before the statement has begun has no effect. */
const insistMillis = 20;

/** A connection for queries that may take long (scans), one at a time. */
export class ScanningConnection {
  readonly #connection: SqliteConnection;
  readonly #prepared: StatementCache<Promise<SqliteScan>>;
  #running: Promise<unknown> | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#prepared = new StatementCache(maxPrepared, (text) => connection.prepareScan(text));
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when no statement runs. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  /**
   * The rows of a query. Rejects with the lifetime's reason if that ends first, and with codes of
   * the error table.
   */
  async scan(
    lifetime: Lifetime,
    text: string,
    parameters: readonly SqliteValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    if (this.#running !== undefined) throw new Error("a connection scans one thing at a time");
    lifetime.throwIfOver();
    const running = this.#rows(asOneRow(text, columns), parameters);
    this.#running = running;
    let insisting: NodeJS.Timeout | undefined;
    let reason: unknown;
    const off = lifetime.onOver((why) => {
      reason = why;
      this.#connection.interrupt();
      insisting = startInterval(() => this.#connection.interrupt(), insistMillis);
    }, "the database");
    try {
      return rowsOf(await running, columns);
    } catch (error) {
      if (!isInterrupted(error)) throw translateFault(error);
      throw reason ?? unavailable();
    } finally {
      // A later interrupt would hit the next statement of this connection.
      off();
      clearInterval(insisting);
      this.#running = undefined;
    }
  }

  async #rows(text: string, parameters: readonly SqliteValue[]): Promise<string> {
    const preparing = this.#prepared.get(text);
    let statement: SqliteScan;
    try {
      statement = await preparing;
    } catch (error) {
      this.#prepared.forget(text);
      throw error;
    }
    const [row] = await statement.all(parameters);
    return String(row?.["rows"] ?? "[]");
  }

  /** Interrupts the running statement. Resolves when none runs. */
  async end(): Promise<void> {
    while (this.#running !== undefined) {
      this.#connection.interrupt();
      await Promise.race([this.idle(), sleep(insistMillis)]);
    }
  }

  /** Interrupts the running statement and closes the connection. */
  async close(): Promise<void> {
    await this.end();
    this.#prepared.clear();
    this.#connection.close();
  }
}

/** A pool of readers behind a bulkhead. */
export class SqliteReaders {
  readonly #open: () => SqliteConnection;
  readonly #bulkhead: Bulkhead;
  readonly #all = new Set<ScanningConnection>();
  readonly #free: ScanningConnection[] = [];

  /** Opens as many readers as the bulkhead has places, each when it is first needed. */
  constructor(open: () => SqliteConnection, bulkhead: Bulkhead) {
    this.#open = open;
    this.#bulkhead = bulkhead;
  }

  /** Rows of a query, on the next free reader. Rejects as the bulkhead and the scan do. */
  async scan(
    work: Work,
    text: string,
    parameters: readonly SqliteValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]> {
    const leave = await this.#bulkhead.enter(work);
    let reader: ScanningConnection | undefined;
    try {
      reader = this.#free.pop() ?? this.#opened();
      return await reader.scan(work.lifetime, text, parameters, columns);
    } finally {
      if (reader !== undefined) this.#free.push(reader);
      leave();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((reader) => reader.close()));
  }

  #opened(): ScanningConnection {
    try {
      const reader = new ScanningConnection(this.#open());
      this.#all.add(reader);
      return reader;
    } catch (error) {
      throw translateFault(error);
    }
  }
}

/**
 * The query with all its rows in a single row, as JSON, since libsql steps further rows on the main
 * thread. Numbers with a fraction travel as text: in JSON, this SQLite prints only 15 digits.
 */
function asOneRow(text: string, columns: ScanColumns): string {
  const { stored, computed = [] } = columns;
  const exact = (column: string): string =>
    `CASE typeof(${column}) WHEN 'real' THEN printf('%!.17g', ${column}) WHEN 'text' THEN ${column} || '' ELSE ${column} END`;
  const values = [...stored.map(quoteName), ...computed.map((name) => exact(quoteName(name)))];
  const rows = `SELECT json_group_array(json_array(${values.join(", ")})) AS "rows" FROM (${text})`;
  return withParts(rows, columns);
}

function rowsOf(json: string, { stored, computed = [] }: ScanColumns): readonly SqlRow[] {
  const names = [...stored, ...computed];
  const rows = JSON.parse(json) as readonly (readonly unknown[])[];
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (const [at, name] of names.entries()) row[name] = values[at];
    return row;
  });
}
