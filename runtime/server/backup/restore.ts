// Brings a backup back to where there is nothing yet. Nothing that is there is ever replaced or
// removed, but what an earlier restore of the same backup has left unfinished.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasCode } from "../../engines/disk-faults.js";
import { syncFolder } from "../../engines/folder/durable-files.js";
import { keepPrivate, makePrivateFolder, nameFile } from "../../engines/private-files.js";
import { copyHashed, hashFile, listTree, syncFile, syncFolders } from "./copied-tree.js";
import { databaseName, factsName, readFacts, readSums, sumsName, type Facts } from "./format.js";
import { expectApart, expectOutside, refuse, type BackupPlace } from "./place.js";

/** Brings a backup back to where there is nothing yet. */
export async function restore(place: BackupPlace): Promise<string> {
  const { service, folder, database, folders } = place;
  const { snapshotFault } = await import("../../engines/sqlite/snapshot.js");
  const { markRestoring } = await import("../../engines/sqlite/restoring.js");
  const facts = readFacts(folder);
  if (facts.service !== service.name && facts.service !== service.was)
    throw refuse("core.conflict", `${folder} is a backup of ${facts.service}`);
  expectOutside(database, folder);
  expectApart(folder, Object.values(folders));
  const sums = readSums(folder);
  const parts = partsOf(folder, sums, folders);
  await expectWhole(folder, sums);
  const fault = snapshotFault(join(folder, databaseName));
  if (fault !== null) throw refuse("core.conflict", `${folder}/${databaseName}: ${fault}`);
  expectNoDatabase(database);
  const mark = markRestoring(database);
  try {
    await expectRoom(database, parts, mark.isResumed).catch((error: unknown) => {
      // Nothing was written yet.
      if (!mark.isResumed) mark.remove();
      throw error;
    });
    const staged = join(mark.folder, databaseName);
    await copyChecked(join(folder, databaseName), staged, sums.get(databaseName));
    for (const part of parts) await fill(part, join(folder, part.name));
    // Last, since a database that is there says that all of it is.
    await placeDatabase(staged, database);
    mark.remove();
  } finally {
    mark.release();
  }
  return tellRestored(facts, sums.size - 1, service.version);
}

function tellRestored({ begunAt, version }: Facts, count: number, own: string): string {
  return `the database and ${count} files, as they were after ${begunAt}${tellVersion(version, own)}`;
}

/** Which version has written what was restored; nothing if it is this one. */
export function tellVersion(version: string, own: string): string {
  return version === own ? "" : ` (of version ${version}; this is ${own})`;
}

/** The files of a family: where they go, and their hashes by their paths there. */
interface Part {
  readonly name: string;
  readonly to: string;
  readonly sums: ReadonlyMap<string, string>;
}

/** Throws `core.conflict` if there are files that have no place. */
function partsOf(
  folder: string,
  sums: ReadonlyMap<string, string>,
  folders: Readonly<Record<string, string>>,
): readonly Part[] {
  const parts = Object.entries(folders).map(([name, to]) => {
    const own = new Map<string, string>();
    return { name, to, sums: own };
  });
  for (const [path, hash] of sums) {
    if (path === databaseName) continue;
    const part = parts.find(({ name }) => path.startsWith(`${name}/`));
    if (part === undefined)
      throw refuse(
        "core.conflict",
        `${join(folder, path)} has no place: OBJECTS_URL must name a folder for what was in one`,
      );
    part.sums.set(path.slice(part.name.length + 1), hash);
  }
  return parts;
}

/** Throws `core.conflict` if a database is there, or a part of one. */
export function expectNoDatabase(database: string): void {
  const there = ["", "-wal", "-shm", "-journal"].map((end) => `${database}${end}`).find(existsSync);
  if (there !== undefined)
    throw refuse(
      "core.conflict",
      `${there} is there: stop the service, and move it to another folder`,
    );
}

/** Throws `core.conflict` if something is there, but what an earlier restore has left. */
async function expectRoom(
  database: string,
  parts: readonly Part[],
  isResumed: boolean,
): Promise<void> {
  expectNoDatabase(database);
  for (const part of parts) await expectOnly(part, isResumed ? part.sums : new Map());
}

/** Throws `core.conflict` if a file is there that may not be. */
async function expectOnly({ to }: Part, allowed: ReadonlyMap<string, string>): Promise<void> {
  if (!existsSync(to)) return;
  const other = (await listTree(to)).find((path) => !allowed.has(path));
  if (other !== undefined)
    throw refuse("core.conflict", `${join(to, other)} is there: move ${to} away`);
}

/** Copies the files of a part to their places; what an earlier restore has copied is kept. */
async function fill({ to, sums }: Part, from: string): Promise<void> {
  makePrivateFolder(to);
  for (const [path, hash] of sums) {
    const target = join(to, path);
    if (!existsSync(target) || (await hashFile(target)) !== hash)
      await copyChecked(join(from, path), target, hash);
  }
  await syncFolders(to, sums.keys());
}

/** Throws `core.conflict` if a file has changed since it was looked at. */
async function copyChecked(from: string, to: string, hash: string | undefined): Promise<void> {
  if ((await copyHashed(from, to)) !== hash)
    throw refuse("core.conflict", `${from} is not what was copied`);
  // A file that was there keeps its mode.
  keepPrivate(to);
}

/** Gives the database its name, unless somebody else has taken it meanwhile. */
export async function placeDatabase(staged: string, database: string): Promise<void> {
  expectNoDatabase(database);
  try {
    nameFile(staged, database);
  } catch (error) {
    if (hasCode(error, "EEXIST")) expectNoDatabase(database);
    throw error;
  }
  await syncFile(database);
  await syncFolder(dirname(database));
}

/** Throws `core.conflict` if a file is missing, is another one, or is one too many. */
async function expectWhole(folder: string, sums: ReadonlyMap<string, string>): Promise<void> {
  const there = new Set(await listTree(folder, { links: "refuse" }));
  for (const path of there)
    if (!sums.has(path) && path !== sumsName && path !== factsName)
      throw refuse("core.conflict", `${join(folder, path)} is not of the backup: remove it`);
  for (const [path, hash] of sums) {
    const file = join(folder, path);
    // Only what is in the folder: the list may have been written by anybody.
    if (!there.has(path)) throw refuse("core.conflict", `${file} is missing`);
    if ((await hashFile(file)) !== hash)
      throw refuse("core.conflict", `${file} is not what was copied`);
  }
  if (!sums.has(databaseName)) throw refuse("core.conflict", `${folder} has no ${databaseName}`);
}
