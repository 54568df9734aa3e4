// A database's log, held by a reader of its own: SQLite overwrites no part of the log that a reader
// may need (https://www.sqlite.org/wal.html#concurrency). A reader that began when all of the log
// was in the database lets it begin anew once, and then keeps the database's file as it is.
import { unavailable } from "../../contract/errors.js";
import { drawFraction, monotonicMillis, nextTurn, sleep } from "../../ports/ambient.js";
import { ArchiveGap, type HeldLog, type PageSet } from "../../ports/archive.js";
import type { SqliteConnection, SqliteStatement } from "./driver.js";
import { isBusy, translateFault } from "./faults.js";
import { LogTail, type Logged } from "./log-tail.js";

/**
 * How long to look for a moment without a transaction, and at least between two looks, in
 * milliseconds. SQLite would wait for it, too, but blocks the event loop meanwhile.
 */
const patience = { millis: 5_000, every: 5 };

/** A longer log is moved on another thread first. */
const longBytes = 16 * 1024 * 1024;

const passive = "PRAGMA wal_checkpoint(PASSIVE)";

export interface HeldLogOptions {
  /** The path of the database. */
  readonly path: string;
  readonly open: (pragmas: string) => SqliteConnection;
  /** Runs `work` at a moment at which this process has no transaction that writes. */
  readonly betweenWrites: (work: () => void) => Promise<void>;
}

/** Opens the log of a database, and holds its state as of now. */
export async function openHeldLog({ path, open, betweenWrites }: HeldLogOptions): Promise<HeldLog> {
  const opened: { close(): unknown }[] = [];
  try {
    const holding = open("PRAGMA query_only = ON;");
    opened.push(holding);
    const locking = open("PRAGMA busy_timeout = 0;");
    opened.push(locking);
    // SQLite makes the file of the log when it first reads.
    numberOf(holding, `SELECT count(*) FROM "sqlite_schema"`);
    const tail = new LogTail(path, numberOf(holding, "PRAGMA page_size"));
    opened.push(tail);
    const log = new SqliteHeldLog({ holding, locking, tail, betweenWrites });
    // What was committed before is in the state that is held.
    await log.open();
    return log;
  } catch (error) {
    for (const one of opened) one.close();
    throw error instanceof ArchiveGap ? error : translateFault(error);
  }
}

interface HeldLogParts extends Pick<HeldLogOptions, "betweenWrites"> {
  readonly holding: SqliteConnection;
  readonly locking: SqliteConnection;
  readonly tail: LogTail;
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

  constructor({ holding, locking, tail, betweenWrites }: HeldLogParts) {
    this.#betweenWrites = betweenWrites;
    this.#holding = holding;
    this.#locking = locking;
    this.#tail = tail;
    this.pageSize = tail.pageSize;
    this.#pages = this.#holding.prepare(
      `SELECT "pgno", "data" FROM json_each(?) CROSS JOIN "sqlite_dbpage" ON "pgno" = "value"`,
    );
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

  async restart(): Promise<readonly PageSet[] | null> {
    const read: PageSet[] = [];
    const hold = async (checkpoints: boolean): Promise<boolean> => {
      const rest = await this.#untilFree(() => this.#holdNow(checkpoints));
      if (rest?.pages != null) read.push(rest.pages);
      return rest !== undefined;
    };
    if (this.size > longBytes) {
      // All of it is moved into the database on another thread, since others wait for the lock.
      if (!(await hold(false))) return null;
      await this.#checkpointBeside();
    }
    const isHeld = await hold(true);
    return isHeld || read.length > 0 ? read : null;
  }

  /** Holds the state as of now, without looking at what was committed before. */
  async open(): Promise<void> {
    if (this.#tail.length > longBytes) await this.#checkpointBeside();
    const isHeld = await this.#untilFree(() => this.#holdNow(true, true));
    if (isHeld === undefined)
      throw unavailable(new Error("another process has held the database's lock for long"));
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

  /** What `work` returns, as soon as nobody else writes; undefined if somebody does for long. */
  async #untilFree<T extends object>(work: () => T | undefined): Promise<T | undefined> {
    const until = monotonicMillis() + patience.millis;
    for (;;) {
      let done: T | undefined;
      await this.#betweenWrites(() => {
        done = work();
      });
      if (done !== undefined || monotonicMillis() > until) return done;
      await sleep(patience.every * (1 + drawFraction()));
    }
  }

  /** Undefined if another process is writing. */
  #holdNow(checkpoints: boolean, skips = false): { readonly pages: PageSet | null } | undefined {
    try {
      this.#locking.exec("BEGIN IMMEDIATE");
    } catch (error) {
      const fault = translateFault(error);
      if (isBusy(fault)) return undefined;
      throw fault;
    }
    try {
      // Nobody commits meanwhile, so this is all there is.
      const pages = skips ? this.#tail.skip() : this.#readRest();
      if (this.#isHeld) this.#holding.exec("COMMIT");
      this.#isHeld = false;
      if (checkpoints) this.#checkpoint();
      this.#holding.exec("BEGIN");
      this.#isHeld = true;
      numberOf(this.#holding, `SELECT count(*) FROM "sqlite_schema"`);
      this.#pageCount = numberOf(this.#holding, "PRAGMA page_count");
      this.#tail.resetSize();
      return { pages: pages ?? null };
    } catch (error) {
      // What was read is lost with this, or the log is no longer held.
      throw error instanceof ArchiveGap
        ? error
        : new ArchiveGap("the log can't be read or held", { cause: error });
    } finally {
      this.#locking.exec("ROLLBACK");
    }
  }

  #readRest(): PageSet | null {
    const logged = drain(this.#tail.advance());
    return logged && copyOf(this.#inLog(logged));
  }

  /** Moves what may be moved into the database, on another thread. */
  async #checkpointBeside(): Promise<void> {
    const checkpoint = await this.#locking.prepareScan(passive);
    await checkpoint.all([]).catch(ignoreFault);
  }

  #checkpoint(): void {
    try {
      this.#holding.prepare(passive).all([]);
    } catch {
      ignoreFault();
    }
  }

  #inLog({ frames, pageCount }: Logged): PageSet {
    const numbers = [...frames.keys()].filter((number) => number <= pageCount);
    return {
      pageCount,
      numbers: numbers.toSorted((one, other) => one - other),
      read: (some) => some.map((number) => this.#tail.page(number, frames.get(number) ?? 0)),
    };
  }
}

function ignoreFault(): void {
  // The disk may be full. The log is as good, and the next time it is tried again.
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
