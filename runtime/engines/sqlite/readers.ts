// Readers of a SQLite database for what may take long: each a connection whose statements run on a thread of their own,
// and end at the deadline or when the caller goes (architecture.md "Work is bounded").
import { unavailable } from "../../contract/errors.js";
import type { Bulkhead } from "../../operations/bulkhead.js";
import type { Lifetime } from "../../ports/lifetime.js";
import type { Work } from "../../ports/work.js";
import { quoted, type ScanColumns, type SqlRow } from "../sql/session.js";
import type { SqliteConnection, SqliteScan, SqliteValue } from "./driver.js";
import { isInterrupted, translated } from "./faults.js";
import { StatementCache } from "./statement-cache.js";

const maxPrepared = 64;
/** A statement that has not begun yet when it is ended is ended again after so many milliseconds. */
const insistMillis = 20;

/** One connection that scans, one statement at a time. */
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

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  /** Rows of a query. Throws what ended the lifetime, where that comes first. */
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
      insisting = setInterval(() => this.#connection.interrupt(), insistMillis);
    });
    try {
      return rowsOf(await running, columns);
    } catch (error) {
      if (!isInterrupted(error)) throw translated(error);
      throw reason ?? unavailable();
    } finally {
      // What ends later would end the next statement of this connection.
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

  /** Ends what runs, and resolves when nothing does. */
  async end(): Promise<void> {
    while (this.#running !== undefined) {
      this.#connection.interrupt();
      await Promise.race([this.idle(), new Promise((next) => setTimeout(next, insistMillis))]);
    }
  }

  /** Ends what runs, and closes. */
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

  /** As many are opened as the bulkhead has places, each when it is needed first. */
  constructor(open: () => SqliteConnection, bulkhead: Bulkhead) {
    this.#open = open;
    this.#bulkhead = bulkhead;
  }

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
      throw translated(error);
    }
  }
}

/**
 * The query with all its rows in one, as JSON: further rows would be stepped on the main thread. Numbers with a fraction
 * travel as text, for this SQLite prints them in JSON with 15 digits.
 */
function asOneRow(text: string, { stored, computed = [] }: ScanColumns): string {
  const exact = (column: string): string =>
    `CASE typeof(${column}) WHEN 'real' THEN printf('%!.17g', ${column}) WHEN 'text' THEN ${column} || '' ELSE ${column} END`;
  const values = [...stored.map(quoted), ...computed.map((name) => exact(quoted(name)))];
  return `SELECT json_group_array(json_array(${values.join(", ")})) AS "rows" FROM (${text})`;
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
