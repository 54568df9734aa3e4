// The files of a SQLite database, for this account alone.
import { dirname } from "node:path";
import { keepPrivate, makePrivateFile, makePrivateFolder } from "../private-files.js";

/** Makes the database file before SQLite does, and its folder. SQLite gives `-wal` and `-shm` the mode of the file. */
export function makePrivateDatabase(path: string): void {
  makePrivateFolder(dirname(path));
  makePrivateFile(path);
  for (const suffix of ["-wal", "-shm", "-journal"]) keepPrivate(`${path}${suffix}`);
}
