// SQLite through libsql, on every version of Node.js: a second SQLite library in the process would
// break the first one's locks, since POSIX locks belong to the process. Statements block the event
// loop, or run on one of the library's threads, where they can be interrupted.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { SqlRow } from "../sql/session.js";

export type SqliteValue = string | number | null;

/** A synchronous statement: it blocks the event loop. Throws SQLite's own errors. */
export interface SqliteStatement {
  all(parameters: readonly SqliteValue[]): SqlRow[];
  /** Returns how many rows were changed. */
  run(parameters: readonly SqliteValue[]): number;
}

/** A statement that runs on another thread. One call at a time: two at once crash the process. */
export interface SqliteScan {
  all(parameters: readonly SqliteValue[]): Promise<readonly SqlRow[]>;
}

export interface SqliteConnection {
  prepare(text: string): SqliteStatement;
  prepareScan(text: string): Promise<SqliteScan>;
  exec(text: string): void;
  /**
   * Interrupts the statement that runs on another thread, which then rejects with SQLITE_INTERRUPT.
   */
  interrupt(): void;
  /** Must not be called while a statement runs on another thread. */
  close(): void;
}

interface NativeStatement {
  all(...parameters: readonly SqliteValue[]): SqlRow[];
  run(...parameters: readonly SqliteValue[]): { readonly changes: number | bigint };
}

interface NativeScan {
  all(...parameters: readonly SqliteValue[]): Promise<readonly SqlRow[]>;
}

interface NativeDatabase {
  /** The native connection, which the library's synchronous and asynchronous interfaces share. */
  readonly db: object;
  prepare(text: string): NativeStatement;
  exec(text: string): unknown;
  interrupt(): void;
  close(): unknown;
}

interface NativePromises {
  prepare(text: string): Promise<NativeScan>;
}

interface Library {
  readonly Database: new (path: string) => NativeDatabase;
  readonly Promises: { readonly prototype: NativePromises };
}

const require = createRequire(import.meta.url);
let library: Library | undefined;

/**
 * Sets how many threads statements may run on, over all connections of this process. Has no effect
 * once the first connection has been opened, or if the environment variable is set already.
 */
export function reserveThreads(count: number): void {
  // The library's runtime reads the variable once, when it is loaded.
  if (library === undefined) process.env["TOKIO_WORKER_THREADS"] ??= String(count);
}

/**
 * The VFS that accesses files directly. The library's default adds a layer for encryption, which
 * hides read errors: a page that can't be read counts as empty, so rows go missing and a checkpoint
 * overwrites a good page with it.
 */
const files = process.platform === "win32" ? "win32" : "unix";

/** Opens a database file, which is created if it does not exist. Throws SQLite's own errors. */
export function openSqlite(path: string): SqliteConnection {
  library ??= {
    Database: require("libsql") as Library["Database"],
    Promises: require("libsql/promise") as Library["Promises"],
  };
  const database = new library.Database(`${pathToFileURL(path).href}?vfs=${files}`);
  // The same connection behind the asynchronous interface: statements that this prepares run on
  // another thread.
  const promises = Object.create(library.Promises.prototype, {
    db: { value: database.db },
  }) as NativePromises;
  return {
    prepare(text) {
      const statement = database.prepare(text);
      return {
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => Number(statement.run(...parameters).changes),
      };
    },
    async prepareScan(text) {
      const statement = await promises.prepare(text);
      return { all: (parameters) => statement.all(...parameters) };
    },
    exec: (text) => void database.exec(text),
    interrupt: () => database.interrupt(),
    close: () => void database.close(),
  };
}
