// Brings a backup back to where there is nothing yet.
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { keepPrivate, privateFolder } from "../../engines/private-files.js";
import { copyHashed, hashFile, listTree } from "./copied-tree.js";
import { databaseName, factsName, readFacts, readSums, sumsName } from "./format.js";
import { refuse, type BackupPlace } from "./place.js";

/** Brings a backup back to where there is nothing yet. */
export async function restore({
  service,
  folder,
  database,
  folders,
}: BackupPlace): Promise<string> {
  const { snapshotFault } = await import("../../engines/sqlite/snapshot.js");
  const facts = readFacts(folder);
  if (![service.name, service.was].includes(facts.service))
    throw refuse("core.conflict", `${folder} is a backup of ${facts.service}`);
  // Beside its place, the database says that a restore was begun and has not ended.
  const begun = `${database}.restoring`;
  await expectNothing(database, existsSync(begun) ? {} : folders);
  const sums = readSums(folder);
  await expectWhole(folder, sums);
  const fault = snapshotFault(join(folder, databaseName));
  if (fault !== null) throw refuse("core.conflict", `${folder}/${databaseName}: ${fault}`);
  await copyHashed(join(folder, databaseName), begun);
  // A file that was there keeps its mode.
  keepPrivate(begun);
  for (const [name, to] of Object.entries(folders)) {
    const beside = `${to}.restoring`;
    await rm(beside, { recursive: true, force: true });
    await mkdir(beside, { recursive: true, mode: privateFolder });
    for (const path of sums.keys())
      if (path.startsWith(`${name}/`))
        await copyHashed(join(folder, path), join(beside, path.slice(name.length + 1)));
    // It is empty, as was seen, or what an earlier restore has put there.
    await rm(to, { recursive: true, force: true });
    await rename(beside, to);
  }
  // Last, since a database that is there says that all of it is.
  await rename(begun, database);
  return `the database and ${sums.size - 1} files, as they were after ${facts.begunAt}`;
}

/** Throws `core.conflict` if something is there that a restore would overwrite. */
async function expectNothing(
  database: string,
  folders: Readonly<Record<string, string>>,
): Promise<void> {
  const there = ["", "-wal", "-shm", "-journal"].map((end) => `${database}${end}`).find(existsSync);
  if (there !== undefined)
    throw refuse("core.conflict", `${there} is there: stop the service, and move it away`);
  for (const folder of Object.values(folders)) {
    const [first] = await listTree(folder);
    if (first !== undefined)
      throw refuse("core.conflict", `${join(folder, first)} is there: move ${folder} away`);
  }
}

/** Throws `core.conflict` if a file is missing, is another one, or is one too many. */
async function expectWhole(folder: string, sums: ReadonlyMap<string, string>): Promise<void> {
  const there = new Set(await listTree(folder));
  for (const path of there)
    if (!sums.has(path) && path !== sumsName && path !== factsName)
      throw refuse("core.conflict", `${join(folder, path)} is not of the backup`);
  for (const [path, hash] of sums) {
    const file = join(folder, path);
    // Only what is in the folder: the list may have been written by anybody.
    if (!there.has(path)) throw refuse("core.conflict", `${file} is missing`);
    if ((await hashFile(file)) !== hash)
      throw refuse("core.conflict", `${file} is not what was copied`);
  }
  if (!sums.has(databaseName)) throw refuse("core.conflict", `${folder} has no ${databaseName}`);
}
