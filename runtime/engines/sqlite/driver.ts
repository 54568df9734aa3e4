// SQLite through libsql, on every Node.js: a second library in one process would break the locks of the first, for POSIX
// locks belong to the process. A connection answers at once, or from a thread of the library's where it may be ended.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { SqlRow } from "../sql/session.js";

export type SqliteValue = string | number | null;

/** A statement that answers at once: the event loop waits for it. */
export interface SqliteStatement {
  all(parameters: readonly SqliteValue[]): SqlRow[];
  /** Returns how many rows were changed. */
  run(parameters: readonly SqliteValue[]): number;
}

/** A statement that runs on another thread. One call at a time: two at once end the process. */
export interface SqliteScan {
  all(parameters: readonly SqliteValue[]): Promise<readonly SqlRow[]>;
}

export interface SqliteConnection {
  prepare(text: string): SqliteStatement;
  prepareScan(text: string): Promise<SqliteScan>;
  exec(text: string): void;
  /** Ends the statement that runs on another thread, which rejects with SQLITE_INTERRUPT. */
  interrupt(): void;
  /** Never while a statement runs on another thread. */
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
  /** The connection itself, which both interfaces of the library have. */
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

/** Threads that statements may run on, in all connections of this process. To be called before the first one is opened. */
export function reserveThreads(count: number): void {
  // The runtime of the library reads it once, when it is loaded.
  if (library === undefined) process.env["TOKIO_WORKER_THREADS"] ??= String(count);
}

/**
 * The files of the system themselves. What the library puts over them for encryption swallows errors of reading: a page that
 * could not be read counts as an empty one, rows are missed, and a checkpoint writes it over a good one.
 */
const files = process.platform === "win32" ? "win32" : "unix";

/** Opens a database file. */
export function openSqlite(path: string): SqliteConnection {
  library ??= {
    Database: require("libsql") as Library["Database"],
    Promises: require("libsql/promise") as Library["Promises"],
  };
  const database = new library.Database(`${pathToFileURL(path).href}?vfs=${files}`);
  // The same connection behind the library's other interface: what it prepares runs on another thread.
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
