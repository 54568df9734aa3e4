// The embedded object engine: a folder with one file an object, written beside and renamed (architecture.md "Engines").
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, rmdir, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { fail, ServiceError } from "../../contract/errors.js";
import type { ObjectHead, ObjectStore } from "../../storage/port.js";
import { decoded, keyPart, pathOf } from "./file-name.js";
import { readTrailer, trailerBytes } from "./object-file.js";

/** Bytes that are read at a time. */
const portion = 256 * 1024;

/** Opens the engine on a folder, making it. Several processes may work on one folder. */
export async function openFolderStore(root: string): Promise<ObjectStore> {
  const objects = join(root, "objects");
  const unfinished = join(root, "unfinished");
  await mkdir(objects, { recursive: true });
  await mkdir(unfinished, { recursive: true });
  const fileOf = (key: string): string => join(objects, ...pathOf(key));

  return {
    head: (key) =>
      translated(async () => {
        const file = await opened(fileOf(key));
        if (file === null) return null;
        try {
          return await headOf(file, key);
        } finally {
          await file.close();
        }
      }),

    open: (key, { window, etag } = {}) =>
      translated(async () => {
        const file = await opened(fileOf(key));
        if (file === null) return null;
        try {
          const head = await headOf(file, key);
          if (etag !== undefined && head.etag !== etag) {
            await file.close();
            return null;
          }
          const [start, end] = [window?.first ?? 0, window?.last ?? head.size - 1];
          if (end < start) {
            await file.close();
            return { head, window: null, body: Readable.from([]) };
          }
          const body = file.createReadStream({ start, end, highWaterMark: portion });
          return { head, window: window ?? null, body };
        } catch (error) {
          await file.close();
          throw error;
        }
      }),

    write: (key, body, description, signal) =>
      translated(async () => {
        const temporary = join(unfinished, randomUUID());
        const file = await open(temporary, "wx");
        try {
          let size = 0;
          for await (const chunk of body) {
            signal.throwIfAborted();
            size += chunk.length;
            await writeAll(file, chunk);
          }
          signal.throwIfAborted();
          const trailer = {
            ...description,
            etag: randomBytes(16).toString("hex"),
            modifiedAt: Date.now(),
          };
          await writeAll(file, trailerBytes(trailer));
          await file.sync();
          await file.close();
          await moved(temporary, fileOf(key), objects);
          return { ...trailer, key, size, contentSize: size };
        } catch (error) {
          await file.close().catch(() => undefined);
          await rm(temporary, { force: true });
          throw error;
        }
      }),

    remove: (key) =>
      translated(async () => {
        const path = fileOf(key);
        try {
          await rm(path);
        } catch (error) {
          if (isAbsent(error)) return false;
          throw error;
        }
        await syncFolder(dirname(path));
        await withoutEmptyFolders(dirname(path), objects);
        return true;
      }),

    async *keys(prefix, after) {
      const found = await translated(() => keysBelow(objects, prefix));
      for (const key of found) if (after === null || comesBefore(after, key)) yield key;
    },

    async close() {
      // Nothing is held open between calls.
    },
  };
}

async function headOf(file: FileHandle, key: string): Promise<ObjectHead> {
  const { trailer, size } = await readTrailer(file);
  return { ...trailer, key, size, contentSize: size };
}

async function opened(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length;)
    at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}

/** Renames into folders that are made where they are missing, durably. Another process may be removing them as empty. */
async function moved(from: string, to: string, root: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const made = await mkdir(dirname(to), { recursive: true });
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

async function syncFolder(path: string): Promise<void> {
  const folder = await opened(path);
  if (folder === null) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Takes away the folders that have become empty, from the inside. */
async function withoutEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      // It is not empty, or gone already.
      return;
    }
  }
}

/** Every key that begins with the prefix, in order. */
async function keysBelow(objects: string, prefix: string): Promise<readonly string[]> {
  const whole = prefix.split("/").slice(0, -1);
  const start = whole.length === 0 ? [] : pathOf(`${whole.join("/")}/x`).slice(0, -1);
  const found: string[] = [];
  await walk(join(objects, ...start), whole.map((segment) => `${segment}/`).join(""), "", found);
  return found.filter((key) => key.startsWith(prefix)).sort((a, b) => (comesBefore(a, b) ? -1 : 1));
}

async function walk(folder: string, before: string, name: string, found: string[]): Promise<void> {
  let entries: readonly string[];
  try {
    entries = await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  for (const entry of entries) {
    const { text, kind } = keyPart(entry);
    const inner = join(folder, entry);
    if (kind === "o") found.push(before + decoded(name + text));
    else if (kind === "c") await walk(inner, before, name + text, found);
    else await walk(inner, `${before}${decoded(name + text)}/`, "", found);
  }
}

/** Whether a key comes before another one by their UTF-8 bytes, as S3 lists them. */
function comesBefore(left: string, right: string): boolean {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Faults of the file system as codes of the error table; what the body throws passes as it is. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (error instanceof ServiceError || !isOfSystem) throw error;
    throw fail("core.infrastructure", {}, { cause: error });
  }
}
