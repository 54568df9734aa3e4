// The mark that a database is being restored: a folder beside its place, which only one restore
// holds at a time, and beside which nothing else may open the database.
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail } from "../../contract/errors.js";
import { hasCode } from "../disk-faults.js";
import { makePrivateFolder, privateFolder } from "../private-files.js";
import { takeFileLock } from "./file-lock.js";

/** The restore of a database, which is under way. */
export interface RestoreMark {
  /** A folder of the restore's own, on the disk of the database. */
  readonly folder: string;
  /** Whether an earlier restore has ended early, so that what is there may be its own. */
  readonly isResumed: boolean;
  /** Removes the mark: the database is there. */
  remove(): void;
  /** Ends this process's hold; the mark stays. */
  release(): void;
}

function markOf(database: string): string {
  return `${database}.restoring`;
}

/** Throws `core.conflict` if a restore of this database was begun and hasn't come to its end. */
export function expectNotRestoring(database: string): void {
  const mark = markOf(database);
  if (lstatSync(mark, { throwIfNoEntry: false }) === undefined) return;
  throw conflict(
    `${mark} is there: a restore is under way, or ended early: run restore again, or remove this folder and the restored files`,
  );
}

/**
 * Marks a database as being restored. Throws `core.conflict` while another process restores it, or
 * if something else has the name of the mark.
 */
export function markRestoring(database: string): RestoreMark {
  const folder = markOf(database);
  makePrivateFolder(dirname(database));
  const isResumed = !makeFolder(folder);
  if (!lstatSync(folder).isDirectory())
    throw conflict(`${folder} is there, and is no folder of a restore: remove it`);
  const lock = takeFileLock(join(folder, "lock"));
  if (lock === null) throw conflict(`${database} is being restored by another process`);
  return {
    folder,
    isResumed,
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
    release: () => lock.release(),
  };
}

/** Returns false if something is there already. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: privateFolder });
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return false;
  }
}

function conflict(text: string): Error {
  return fail("core.conflict", {}, { cause: new Error(text) });
}
