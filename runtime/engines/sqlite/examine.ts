// What an operator should know about a SQLite database: whether it is whole, and how large it and
// its log are.
import { statSync } from "node:fs";
import { notice, ok, tellBytes, wrong, type Symptom } from "../../ports/symptom.js";
import { openSqlite, type SqliteConnection } from "./driver.js";
import { expectNotRestoring } from "./restoring.js";
import { databaseFault, hasMigrations } from "./snapshot.js";

/** A log that is larger was not taken over for long, by a reader that doesn't end. */
const largeLogBytes = 256_000_000;
/** Pages of removed rows, as a share, in a file that is worth the work. */
const [emptyShare, largeBytes] = [0.5, 100_000_000];

/**
 * Examines the file at `path`, beside processes that use it, and makes none. Reads all of it once.
 * What isn't `SQLite` but `database` says that there is nothing to work on. Throws `core.conflict`
 * while it is being restored, and `core.unavailable` if it can't be read.
 */
export function examineSqlite(path: string): readonly Symptom[] {
  expectNotRestoring(path);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    return [notice("database", `${path} is not there yet: the service makes it at its start`)];
  if (!found.isFile()) return [wrong("database", `${path} is no file: DATABASE_URL must name one`)];
  if (found.size === 0)
    return [notice("database", `${path} is empty: the service fills it at its start`)];
  const fault = databaseFault(path);
  if (fault !== null)
    return [wrong("database", `${path}: ${fault}: bring back a backup (docs/backups.md)`)];
  const connection = openSqlite(path);
  try {
    return [ofFile(connection), ofLog(path), ...ofTables(connection, path)];
  } finally {
    connection.close();
  }
}

/** A file without migrations would be filled with tables if it were opened. */
function ofTables(connection: SqliteConnection, path: string): readonly Symptom[] {
  if (hasMigrations(connection)) return [];
  return [notice("database", `${path} has no migrations yet: is it the service's?`)];
}

function ofFile(connection: SqliteConnection): Symptom {
  const valueOf = (text: string): string | number => {
    const [row = {}] = connection.prepare(text).all([]);
    return Object.values(row)[0] as string | number;
  };
  const [pages, free, size] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(valueOf(`PRAGMA ${name}`)),
  ) as [number, number, number];
  const text = `${valueOf("SELECT sqlite_version()")}, ${tellBytes(pages * size)}, whole`;
  return pages * size > largeBytes && free / pages > emptyShare
    ? notice(
        "SQLite",
        `${text}, but ${tellBytes(free * size)} are empty: stop the service and run VACUUM`,
      )
    : ok("SQLite", text);
}

function ofLog(path: string): Symptom {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const text = `its log has ${tellBytes(bytes)}`;
  return bytes > largeLogBytes
    ? notice("SQLite", `${text}: something reads for long: end it, or start the service anew`)
    : ok("SQLite", text);
}
