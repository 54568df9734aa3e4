// A database's log, held by a reader of its own: SQLite overwrites no part of the log that a reader
// may need (https://www.sqlite.org/wal.html#concurrency). A reader that began when all of the log
// was in the database lets it begin anew once, and then keeps the database's file as it is.
import { unavailable } from "../../contract/errors.js";
import { monotonicMillis, nextTurn, sleep } from "../../ports/ambient.js";
import { ArchiveGap, type HeldLog, type PageSet } from "../../ports/archive.js";
import type { SqliteConnection, SqliteStatement } from "./driver.js";
import { isBusy, translateFault } from "./faults.js";
import { LogTail, type Logged } from "./log-tail.js";

/** How long to look for a moment without a transaction, and between two looks, in milliseconds. */
const patience = { millis: 5_000, every: 20 };

export interface HeldLogOptions {
  /** The path of the database. */
  readonly path: string;
  readonly open: (pragmas: string) => SqliteConnection;
  /** Runs `work` at a moment at which this process has no transaction that writes. */
  readonly betweenWrites: (work: () => void) => Promise<void>;
}

/** Opens the log of a database, and holds its state as of now. */
export async function openHeldLog(options: HeldLogOptions): Promise<HeldLog> {
  const log = new SqliteHeldLog(options);
  try {
    // What was committed before is in the state that is held.
    await log.restart();
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

class SqliteHeldLog implements HeldLog {
  readonly pageSize: number;
  readonly #betweenWrites: HeldLogOptions["betweenWrites"];
  readonly #holding: SqliteConnection;
  readonly #locking: SqliteConnection;
  readonly #pages: SqliteStatement;
  readonly #tail: LogTail;
  #isHeld = false;
  #pageCount = 0;

  constructor({ path, open, betweenWrites }: HeldLogOptions) {
    this.#betweenWrites = betweenWrites;
    this.#holding = open("PRAGMA query_only = ON;");
    this.#locking = open("PRAGMA busy_timeout = 50;");
    this.pageSize = numberOf(this.#holding, "PRAGMA page_size");
    this.#pages = this.#holding.prepare(
      `SELECT "pgno", "data" FROM json_each(?) CROSS JOIN "sqlite_dbpage" ON "pgno" = "value"`,
    );
    // SQLite makes this file when it first reads.
    numberOf(this.#holding, `SELECT count(*) FROM "sqlite_schema"`);
    this.#tail = new LogTail(`${path}-wal`, this.pageSize);
  }

  get size(): number {
    return this.#tail.size;
  }

  async advance(): Promise<PageSet | null> {
    const advancing = this.#tail.advance();
    for (;;) {
      const { done, value } = advancing.next();
      if (done === true) return value && this.#inLog(value);
      await nextTurn();
    }
  }

  async restart(): Promise<PageSet | null> {
    const until = monotonicMillis() + patience.millis;
    for (;;) {
      let rest: PageSet | null | undefined;
      await this.#betweenWrites(() => {
        rest = this.#restartNow();
      });
      if (rest !== undefined) return rest;
      if (monotonicMillis() > until)
        throw unavailable(new Error("another process has held the database's lock for long"));
      await sleep(patience.every);
    }
  }

  held(): PageSet {
    const pageCount = this.#pageCount;
    return {
      pageCount,
      numbers: Array.from({ length: pageCount }, (_none, at) => at + 1),
      read: (numbers) => {
        const rows = this.#pages.all([JSON.stringify(numbers)]);
        const pages = new Map(
          rows.map(({ pgno, data }) => [pgno, Buffer.from(data as ArrayBuffer)]),
        );
        return numbers.map((number) => pages.get(number) ?? Buffer.alloc(this.pageSize));
      },
    };
  }

  async close(): Promise<void> {
    this.#tail.close();
    this.#locking.close();
    if (this.#isHeld) this.#holding.exec("COMMIT");
    this.#holding.close();
  }

  /** Undefined if another process is writing. */
  #restartNow(): PageSet | null | undefined {
    try {
      this.#locking.exec("BEGIN IMMEDIATE");
    } catch (error) {
      const fault = translateFault(error);
      if (isBusy(fault)) return undefined;
      throw fault;
    }
    try {
      // Nobody commits meanwhile, so this is all there is.
      const logged = drain(this.#tail.advance());
      const rest = logged && copyOf(this.#inLog(logged));
      this.#holdAnew();
      return rest;
    } catch (error) {
      throw error instanceof ArchiveGap ? error : translateFault(error);
    } finally {
      this.#locking.exec("ROLLBACK");
    }
  }

  #holdAnew(): void {
    try {
      if (this.#isHeld) this.#holding.exec("COMMIT");
      this.#isHeld = false;
      this.#checkpoint();
      this.#holding.exec("BEGIN");
      this.#isHeld = true;
      numberOf(this.#holding, `SELECT count(*) FROM "sqlite_schema"`);
      this.#pageCount = numberOf(this.#holding, "PRAGMA page_count");
    } catch (cause) {
      throw new ArchiveGap("the log is no longer held", { cause });
    }
  }

  #checkpoint(): void {
    try {
      this.#holding.prepare("PRAGMA wal_checkpoint(PASSIVE)").all([]);
    } catch {
      // The disk may be full. The log is as good, and the next time it is tried again.
    }
  }

  #inLog({ frames, pageCount }: Logged): PageSet {
    const numbers = [...frames.keys()].filter((number) => number <= pageCount);
    return {
      pageCount,
      numbers: numbers.toSorted((one, other) => one - other),
      read: (some) => some.map((number) => this.#tail.page(frames.get(number) ?? 0)),
    };
  }
}

/** The same pages in memory. */
function copyOf({ pageCount, numbers, read }: PageSet): PageSet {
  const contents = read(numbers);
  const pages = new Map(numbers.map((number, at) => [number, contents[at] ?? Buffer.alloc(0)]));
  return {
    pageCount,
    numbers,
    read: (some) => some.map((number) => pages.get(number) ?? Buffer.alloc(0)),
  };
}

function drain<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

function numberOf(connection: SqliteConnection, query: string): number {
  const [row] = connection.prepare(query).all([]);
  return Number(Object.values(row ?? {})[0]);
}
