// Files and folders that only the service's own account may access, since they hold callers' data.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { drawBytes } from "../ports/ambient.js";
import { hasCode } from "./disk-faults.js";

export const privateFile = 0o600;
export const privateFolder = 0o700;

/**
 * Creates a folder and its missing parents, for this account only. A folder that exists keeps its
 * mode.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateFolder });
}

/**
 * Gives a path a file with this text, whole or not at all, which only this account can access. If
 * another process was first, its file stays.
 */
export function placePrivateFile(path: string, text: string): void {
  const begun = `${path}.${drawBytes(6).toString("hex")}`;
  try {
    writeFileSync(begun, text, { mode: privateFile, flush: true });
    nameFile(begun, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(begun, { force: true });
  }
}

/** Gives a file a further name. Throws `EEXIST` if the name is taken, also by somebody just now. */
export function nameFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!withoutLinks.some((code) => hasCode(error, code))) throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

/** What file systems say that have no links. */
const withoutLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/**
 * Creates an empty file for this account only. A file that exists keeps its content and loses other
 * accounts' access.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFile));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    // By path: opening and closing a database file would drop the locks that this process holds on
    // it.
    keepPrivate(path);
  }
}

/**
 * Removes group's and others' access to a file or folder, if it exists and this account owns it. A
 * folder that contains the working directory keeps its mode, since it holds more than data. Does
 * nothing on systems without such modes.
 */
export function keepPrivate(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0) return;
  if (found.isDirectory() && holdsWorkingDirectory(path)) return;
  chmodSync(path, found.mode & 0o700);
}

function holdsWorkingDirectory(folder: string): boolean {
  return isWithin(process.cwd(), resolve(folder));
}

/** Whether a path is that of a folder, or of something in it. Both are absolute. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // Another drive has an absolute one.
  return !isAbsolute(way) && !/^\.\.(?:[\\/]|$)/.test(way);
}
