// Files and folders that only the account of the service may enter: what is kept for callers is nobody else's to read.
import { chmodSync, closeSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";

export const privateFile = 0o600;
export const privateFolder = 0o700;

/** Makes a folder, and those on the way to it, for this account alone. One that exists stays as it is. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateFolder });
}

/** Writes a file for this account alone. */
export function writePrivateFile(path: string, text: string): void {
  writeFileSync(path, text, { mode: privateFile });
  keepPrivate(path);
}

/** Makes an empty file for this account alone, unless it exists; then it becomes so. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFile));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    // By its name: to open a database file and close it would drop the locks that this process has on it.
    keepPrivate(path);
  }
}

/**
 * Takes a file or folder from group and others, where it exists and this account owns it. A folder that the working
 * directory is in stays as it is: it is more than data. So does everything on systems without such modes.
 */
export function keepPrivate(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0) return;
  if (found.isDirectory() && holdsWorkingDirectory(path)) return;
  chmodSync(path, found.mode & 0o700);
}

function holdsWorkingDirectory(folder: string): boolean {
  return !/^\.\.(?:[\\/]|$)/.test(relative(resolve(folder), process.cwd()));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
