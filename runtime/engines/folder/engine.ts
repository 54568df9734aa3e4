// The embedded object engine: a folder with one file per object, written elsewhere and renamed
// (architecture.md "Engines").
import { readdir, rm, writeFile, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type { Addresses } from "../../ports/direct-addresses.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type { ObjectStore, OpenedObject } from "../../ports/objects.js";
import { keepPrivate, makePrivateFolder } from "../private-files.js";
import { folderTransfers } from "./direct.js";
import {
  isAbsent,
  moveFile,
  openFile,
  syncFolder,
  translateFault,
  withoutEmptyFolders,
} from "./durable-files.js";
import { decodeName, keyPart, pathOf } from "./file-name.js";
import { readTrailer, writtenFile } from "./object-file.js";
import { removedVersion, type RemovalPlaces } from "./removal.js";
import { sweepFolder } from "./sweep.js";
import { drawUuid } from "../../ports/ambient.js";

/** Bytes per read. */
const portion = 256 * 1024;

/**
 * Opens the engine on a folder and creates it. If that fails, each `ping` and `write` tries again.
 * Several processes may share a folder. `addresses` signs requests that the service itself answers;
 * null means no direct transfers.
 */
export async function openFolderStore(
  root: string,
  addresses: Addresses | null,
): Promise<ObjectStore> {
  const objects = join(root, "objects");
  const unfinished = join(root, "unfinished");
  let isMade = false;
  const make = async (): Promise<void> => {
    // Only once: if a mount goes away later, nothing may be written to the folder underneath it.
    if (isMade) return;
    for (const folder of [objects, unfinished]) {
      makePrivateFolder(folder);
      // Others can't enter a private folder, so its contents need no check.
      keepPrivate(folder);
    }
    isMade = true;
  };
  // A folder that can't be created yet doesn't stop the service from starting; `ping` and `write`
  // report it.
  await make().catch(() => undefined);
  const fileOf = (key: string): string => join(objects, ...pathOf(key));
  const places = { objects, unfinished, fileOf };

  return {
    head: (key) =>
      translateFault(async () => {
        const file = await openFile(fileOf(key));
        if (file === null) return null;
        try {
          return await headOf(file, key);
        } finally {
          await file.close();
        }
      }),

    open: (key, options = {}) => translateFault(() => openedObject(fileOf(key), key, options)),

    write: (key, body, description, signal) =>
      translateFault(async () => {
        await make();
        const temporary = join(unfinished, `${drawUuid()}.tmp`);
        try {
          const head = await writtenFile(temporary, key, abortable(body, signal), description);
          signal.throwIfAborted();
          await moveFile(temporary, fileOf(key), objects);
          return head;
        } catch (error) {
          await rm(temporary, { force: true });
          throw error;
        }
      }),

    remove: (key, { etag } = {}) =>
      translateFault(() =>
        etag === undefined
          ? removeDurably(fileOf(key), objects)
          : removedVersion(places, { key, etag }),
      ),

    copy: (from, to, description, options) =>
      translateFault(() => copiedObject(places, { from, to, description, ...options })),

    async *list(prefix, after, signal) {
      const found = await translateFault(() => keysBelow(objects, prefix, signal));
      for (const key of found)
        if (after === null || comesBefore(after, key)) yield { key, etag: null };
    },

    ping: () =>
      translateFault(async () => {
        await make();
        await probe(unfinished);
      }),

    sweep: (prefix, olderThanSeconds, limit) =>
      sweepFolder(places, prefix, olderThanSeconds, limit),

    direct:
      addresses === null
        ? null
        : folderTransfers({
            unfinished,
            addresses,
            moveTo: (path, key) => moveFile(path, fileOf(key), objects),
          }),

    async close() {
      // Nothing is held open between calls.
    },
  };
}

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly description: ObjectDescription;
  readonly etag?: string;
  readonly signal: AbortSignal;
}

/**
 * Copies one version to a new file, which then becomes the other object. Null if there is none, or
 * another version.
 */
async function copiedObject(
  { objects, unfinished, fileOf }: RemovalPlaces,
  { from, to, description, etag, signal }: Copy,
): Promise<ObjectHead | null> {
  const source = await openFile(fileOf(from));
  if (source === null) return null;
  const temporary = join(unfinished, `${drawUuid()}.tmp`);
  try {
    const head = await headOf(source, from);
    if (etag !== undefined && head.etag !== etag) return null;
    const content = abortable(wholeOf(source, head.size), signal);
    const copied = await writtenFile(temporary, to, content, description);
    signal.throwIfAborted();
    await moveFile(temporary, fileOf(to), objects);
    return copied;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await source.close();
  }
}

/** The first `size` bytes of an open file: the object without its trailer. */
function wholeOf(file: FileHandle, size: number): AsyncIterable<Buffer> {
  if (size === 0) return Readable.from([]);
  const end = size - 1;
  return file.createReadStream({ start: 0, end, highWaterMark: portion, autoClose: false });
}

type OpenOptions = NonNullable<Parameters<ObjectStore["open"]>[1]>;

/** Opens an object, or a window of it. Null if there is none, or another version. */
async function openedObject(
  path: string,
  key: string,
  { window, etag }: OpenOptions,
): Promise<OpenedObject | null> {
  const file = await openFile(path);
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
}

/**
 * Removes a file durably, and the folders that this leaves empty. Returns false if there is no
 * file.
 */
async function removeDurably(path: string, objects: string): Promise<boolean> {
  try {
    await rm(path);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
  await syncFolder(dirname(path));
  await withoutEmptyFolders(dirname(path), objects);
  return true;
}

async function* abortable(
  body: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    signal.throwIfAborted();
    yield chunk;
  }
}

async function headOf(file: FileHandle, key: string): Promise<ObjectHead> {
  const { trailer, size } = await readTrailer(file);
  return { ...trailer, key, size, contentSize: size };
}

/** Checks that the folder can be written to: writes a few bytes durably and removes them. */
async function probe(unfinished: string): Promise<void> {
  const path = join(unfinished, `${drawUuid()}.tmp`);
  try {
    await writeFile(path, "probe", { flag: "wx", flush: true });
  } finally {
    await rm(path, { force: true });
  }
}

/** Every key that begins with the prefix, in the order of `comesBefore`. */
async function keysBelow(
  objects: string,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const whole = prefix.split("/").slice(0, -1);
  const start = whole.length === 0 ? [] : pathOf(`${whole.join("/")}/x`).slice(0, -1);
  const found: string[] = [];
  const before = whole.map((segment) => `${segment}/`).join("");
  await walk(join(objects, ...start), before, "", { found, signal });
  return found.filter((key) => key.startsWith(prefix)).sort((a, b) => (comesBefore(a, b) ? -1 : 1));
}

async function walk(
  folder: string,
  before: string,
  name: string,
  into: { readonly found: string[]; readonly signal: AbortSignal | undefined },
): Promise<void> {
  into.signal?.throwIfAborted();
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
    if (kind === "o") into.found.push(before + decodeName(name + text));
    else if (kind === "c") await walk(inner, before, name + text, into);
    else await walk(inner, `${before}${decodeName(name + text)}/`, "", into);
  }
}

/** Whether one key comes before another by their UTF-8 bytes, the order in which S3 lists keys. */
function comesBefore(left: string, right: string): boolean {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}
