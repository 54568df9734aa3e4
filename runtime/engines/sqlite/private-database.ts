// The files of a SQLite database, which only this account can access.
import { dirname } from "node:path";
import { keepPrivate, makePrivateFile, makePrivateFolder } from "../private-files.js";

/**
 * Creates the database file before SQLite does, and its folder. SQLite gives `-wal` and `-shm` the
 * same mode as the file.
 */
export function makePrivateDatabase(path: string): void {
  makePrivateFolder(dirname(path));
  makePrivateFile(path);
  for (const suffix of ["-wal", "-shm", "-journal"]) keepPrivate(`${path}${suffix}`);
}
