// A copy of a database as it is at one moment, made while others go on writing.
import { statSync } from "node:fs";
import { unavailable } from "../../contract/errors.js";
import { makePrivateFile } from "../private-files.js";
import { openSqlite, type SqliteConnection } from "./driver.js";
import { expectNotRestoring } from "./restoring.js";

/**
 * Writes the database at `path` to the file `to`, which must not exist yet. What was acknowledged
 * before is in it, also what is still in the log (`-wal`); it needs no log of its own. Throws
 * `core.unavailable`, which says what SQLite says, and `core.conflict` while it is being restored.
 */
export function writeSnapshot(path: string, to: string): void {
  expectNotRestoring(path);
  makePrivateFile(to);
  use(path, (connection) => {
    connection.exec("PRAGMA busy_timeout = 30000");
    connection.prepare("VACUUM INTO ?").run([to]);
  });
}

/** What is wrong with a file that should be a service's whole database; null if nothing is. */
export function snapshotFault(path: string): string | null {
  if (statSync(path).size === 0) return "it is empty";
  const fault = databaseFault(path);
  if (fault !== null) return fault;
  return use(path, hasMigrations) ? null : "it is no database of a service: it has no migrations";
}

/** Whether migrations have been applied to a database. */
export function hasMigrations(connection: SqliteConnection): boolean {
  const known = `SELECT 1 FROM "sqlite_master" WHERE "name" = 'opwright_migrations'`;
  return connection.prepare(known).all([]).length > 0;
}

/** What is wrong with a database, all of which is read; null if it is whole. */
export function databaseFault(path: string): string | null {
  return use(path, (connection) => {
    const [row] = connection.prepare("PRAGMA quick_check(1)").all([]);
    const said = String(Object.values(row ?? {})[0]);
    return said === "ok" ? null : said;
  });
}

function use<T>(path: string, work: (connection: SqliteConnection) => T): T {
  let connection: SqliteConnection | undefined;
  try {
    connection = openSqlite(path);
    return work(connection);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw unavailable(new Error(`${path}: ${said}`, { cause: error }));
  } finally {
    connection?.close();
  }
}
