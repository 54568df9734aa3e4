// A copy of a database as it is at one moment, made while others go on writing.
import { makePrivateFile } from "../private-files.js";
import { openSqlite } from "./driver.js";

/**
 * Writes the database at `path` to the file `to`, which must not exist yet. What was acknowledged
 * before is in it, also what is still in the log (`-wal`); it needs no log of its own. Throws
 * SQLite's own errors.
 */
export function writeSnapshot(path: string, to: string): void {
  makePrivateFile(to);
  const connection = openSqlite(path);
  try {
    connection.exec("PRAGMA busy_timeout = 30000");
    connection.prepare("VACUUM INTO ?").run([to]);
  } finally {
    connection.close();
  }
}

/** Whether a file is a whole database: what is wrong with it, or null. */
export function snapshotFault(path: string): string | null {
  const connection = openSqlite(path);
  try {
    const [row] = connection.prepare("PRAGMA quick_check(1)").all([]);
    const said = String(Object.values(row ?? {})[0]);
    return said === "ok" ? null : said;
  } finally {
    connection.close();
  }
}
