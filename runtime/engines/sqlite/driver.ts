// Which SQLite binding serves: node:sqlite where Node has it, else libsql. Both are synchronous.
import { createRequire } from "node:module";
import type { SqlRow } from "../sql/session.js";

export type SqliteValue = string | number | null;

export interface SqliteStatement {
  all(parameters: readonly SqliteValue[]): SqlRow[];
  /** Returns how many rows were changed. */
  run(parameters: readonly SqliteValue[]): number;
}

export interface SqliteConnection {
  prepare(text: string): SqliteStatement;
  exec(text: string): void;
  close(): void;
}

interface NativeStatement {
  all(...parameters: readonly SqliteValue[]): SqlRow[];
  run(...parameters: readonly SqliteValue[]): { readonly changes: number | bigint };
}

interface NativeDatabase {
  prepare(text: string): NativeStatement;
  exec(text: string): unknown;
  close(): unknown;
}

type Constructor = new (path: string) => NativeDatabase;

const require = createRequire(import.meta.url);

/** Opens a database file, or `:memory:`. */
export function openSqlite(path: string): SqliteConnection {
  const database = new (binding())(path);
  return {
    prepare(text) {
      const statement = database.prepare(text);
      return {
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => Number(statement.run(...parameters).changes),
      };
    },
    exec: (text) => void database.exec(text),
    close: () => void database.close(),
  };
}

/** The name of the binding that `openSqlite` uses here. */
export function sqliteBinding(): "node:sqlite" | "libsql" {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 13) ? "node:sqlite" : "libsql";
}

function binding(): Constructor {
  if (sqliteBinding() === "node:sqlite") {
    return (require("node:sqlite") as { readonly DatabaseSync: Constructor }).DatabaseSync;
  }
  return require("libsql") as Constructor;
}
