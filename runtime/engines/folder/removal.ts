// Removes one version of an object, whatever is written at the same time (RFC 9110 §13.1.1). File
// systems remove names, not versions, so the file is moved aside by a rename, checked, and put back
// if it is another version.
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { privateFile, privateFolder } from "../private-files.js";
import { hasCode } from "../disk-faults.js";
import { isAbsent, openFile, syncFolder, withoutEmptyFolders } from "./durable-files.js";
import { readTrailer } from "./object-file.js";
import { drawUuid } from "../../ports/ambient.js";

/**
 * The version to remove, written next to the file that is moved aside, so that `sweep` can finish
 * it for a dead process.
 */
export interface Removal {
  readonly key: string;
  readonly etag: string;
}

/**
 * Seconds after which `sweep` finishes a removal. A process that is still at it finds no file and
 * reports false.
 */
export const removalSeconds = 10;

/** Where objects, and removals that are under way, are kept. */
export interface RemovalPlaces {
  readonly objects: string;
  readonly unfinished: string;
  fileOf(key: string): string;
}

/** Removes one version durably. Returns false if there is no object, or another version. */
export async function removedVersion(places: RemovalPlaces, removal: Removal): Promise<boolean> {
  const path = places.fileOf(removal.key);
  // Usually an old version is noticed here. Only if the object is replaced after this check is a
  // file moved for nothing.
  if ((await etagAt(path)) !== removal.etag) return false;
  const taken = join(places.unfinished, `${drawUuid()}.removal`);
  await mkdir(taken, { mode: privateFolder });
  try {
    const told = { mode: privateFile, flush: true };
    await writeFile(join(taken, "removal.json"), JSON.stringify(removal), told);
    await rename(path, join(taken, "object"));
  } catch (error) {
    await rm(taken, { recursive: true, force: true });
    if (isAbsent(error)) return false;
    throw error;
  }
  return settledRemoval(places, taken, removal);
}

/**
 * Finishes a removal, whether its file was moved aside or not; returns whether this removed the
 * version.
 */
export async function settledRemoval(
  { objects, fileOf }: RemovalPlaces,
  taken: string,
  { key, etag }: Removal,
): Promise<boolean> {
  const path = fileOf(key);
  const found = await etagAt(join(taken, "object"));
  if (found !== null && found !== etag) await putBack(join(taken, "object"), path);
  await rm(taken, { recursive: true, force: true });
  await syncFolder(dirname(path));
  if (found === etag) await withoutEmptyFolders(dirname(path), objects);
  return found === etag;
}

/**
 * Reads the removal in a folder; null if no file was moved there yet, or another process has
 * finished it.
 */
export async function readRemoval(taken: string): Promise<Removal | null> {
  try {
    return JSON.parse(await readFile(join(taken, "removal.json"), "utf8")) as Removal;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Gives a file its name back, unless a newer file has it. */
async function putBack(file: string, path: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await mkdir(dirname(path), { recursive: true, mode: privateFolder });
      await link(file, path);
      return;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return;
      // Another process may be removing the folder as empty.
      if (!isAbsent(error) || attempt === 8) throw error;
    }
  }
}

async function etagAt(path: string): Promise<string | null> {
  const file = await openFile(path);
  if (file === null) return null;
  try {
    return (await readTrailer(file)).trailer.etag;
  } finally {
    await file.close();
  }
}
