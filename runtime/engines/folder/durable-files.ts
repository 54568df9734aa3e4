// What durable files are made with: full writes, syncs and renames, and the folders around them.
import { mkdir, open, rename, rmdir, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { privateFolder } from "../private-files.js";

/** Opens a file for reading; null if there is none. */
export async function openFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Writes the whole chunk, since one call of `write` may write less. */
export async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length;)
    at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}

/**
 * Renames a file durably, creating missing folders below `root`. Tries again if another process
 * removes such a folder in between because it is empty.
 */
export async function moveFile(from: string, to: string, root: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const made = await mkdir(dirname(to), { recursive: true, mode: privateFolder });
      await rename(from, to);
      for (let folder = dirname(to); folder.length >= root.length; folder = dirname(folder)) {
        await syncFolder(folder);
        if (made === undefined) break;
      }
      return;
    } catch (error) {
      if (!isAbsent(error) || attempt === 8) throw error;
    }
  }
}

/** Makes renames into and out of a folder durable. Does nothing if the folder does not exist. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path);
  if (folder === null) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Removes `path` and its parents below `root`, up to the first folder that is not empty. */
export async function withoutEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      // It is not empty, or already gone.
      return;
    }
  }
}

/** Whether an error says that a file, or a folder on the way to it, does not exist. */
export function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // A file whose name is too long for the file system can't exist.
  return code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG";
}

/**
 * Faults that pass or can be fixed: no space, no file descriptors, a device or mount that is gone,
 * missing permissions.
 */
const passing = new Set([
  "EACCES",
  "EBUSY",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EMFILE",
  "ENFILE",
  "ENODEV",
  "ENOENT",
  "ENOSPC",
  "ENOTDIR",
  "EPERM",
  "EROFS",
  "ESTALE",
]);

/**
 * Runs `work` and translates faults of the file system to codes of the error table. Other errors
 * pass through unchanged.
 */
export async function translateFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (error instanceof ServiceError || !isOfSystem) throw error;
    if ("code" in error && passing.has(String(error.code))) throw unavailable(error);
    throw fail("core.infrastructure", {}, { cause: error });
  }
}
