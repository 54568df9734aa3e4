// Removing one version of an object, whatever is written meanwhile (RFC 9110 §13.1.1). File systems remove names, not
// versions: a file is taken aside by one rename, looked at, and put back where it is another one.
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { privateFile, privateFolder } from "../private-files.js";
import { isAbsent, opened, syncFolder, withoutEmptyFolders } from "./durable-files.js";
import { readTrailer } from "./object-file.js";

/** The version that is to go, as it stands beside the file that was taken: for whoever ends what a process began. */
export interface Removal {
  readonly key: string;
  readonly etag: string;
}

/** Seconds after which no process is at a removal any more; one that is would find it ended, and look again. */
export const removalSeconds = 10;

/** Where objects and removals are. */
export interface RemovalPlaces {
  readonly objects: string;
  readonly unfinished: string;
  fileOf(key: string): string;
}

/** Removes a version durably; false where it is not there, or is another one. */
export async function removedVersion(places: RemovalPlaces, removal: Removal): Promise<boolean> {
  const path = places.fileOf(removal.key);
  // Most of those that ask for an old version are told here; only who is late in between takes a file for nothing.
  if ((await etagAt(path)) !== removal.etag) return false;
  const taken = join(places.unfinished, `${randomUUID()}.removal`);
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

/** Ends a removal that has its file, or has none; says whether its version is gone. */
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

/** What a folder of a removal says; null where nothing was taken, or somebody else has ended it. */
export async function readRemoval(taken: string): Promise<Removal | null> {
  try {
    return JSON.parse(await readFile(join(taken, "removal.json"), "utf8")) as Removal;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Gives a file its name again, unless a newer one has it. */
async function putBack(file: string, path: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await mkdir(dirname(path), { recursive: true, mode: privateFolder });
      await link(file, path);
      return;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
      // Another process may be removing the folder as empty.
      if (!isAbsent(error) || attempt === 8) throw error;
    }
  }
}

async function etagAt(path: string): Promise<string | null> {
  const file = await opened(path);
  if (file === null) return null;
  try {
    return (await readTrailer(file)).trailer.etag;
  } finally {
    await file.close();
  }
}
