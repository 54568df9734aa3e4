// Files that are written beside, synced and renamed, and the folders around them.
import { mkdir, open, rename, rmdir, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { privateFolder } from "../private-files.js";

/** A file to read, or null where there is none. */
export async function opened(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Writes all of it: one call may write less. */
export async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length;)
    at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}

/** Renames into folders that are made where they are missing, durably. Another process may be removing them as empty. */
export async function moved(from: string, to: string, root: string): Promise<void> {
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

/** Makes what was renamed into or out of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await opened(path);
  if (folder === null) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Takes away the folders that have become empty, from the inside. */
export async function withoutEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      // It is not empty, or gone already.
      return;
    }
  }
}

/** Whether a file or a folder on the way to it is not there. */
export function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // A name that is too long for the file system was never written.
  return code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG";
}

/** What passes by itself or once it is mended: no room, no descriptors, a device or a mount that is gone, no rights. */
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

/** Faults of the file system as codes of the error table; what the body throws passes as it is. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (error instanceof ServiceError || !isOfSystem) throw error;
    if ("code" in error && passing.has(String(error.code))) throw unavailable(error);
    throw fail("core.infrastructure", {}, { cause: error });
  }
}
