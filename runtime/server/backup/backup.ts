// Copies what the embedded engines keep, while the service goes on.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../ports/clock.js";
import { fillFolder } from "../data-folder.js";
import { copyTree, hashFile, listTree, syncFile, syncFolders, type Hashes } from "./copied-tree.js";
import { databaseName, factsName, sumsName, writeFormat, type Facts } from "./format.js";
import { expectApart, refuse, type BackupPlace } from "./place.js";

/**
 * Files are copied, then the database, then the files that came meanwhile: so each file that the
 * database knows is there, unless it was removed meanwhile.
 */
export async function backUp(place: BackupPlace): Promise<string> {
  const { service, folder, database, folders } = place;
  const { snapshotFault, writeSnapshot } = await import("../../engines/sqlite/snapshot.js");
  if (!existsSync(database)) throw refuse("core.conflict", `there is no database yet: ${database}`);
  expectApart(folder, Object.values(folders));
  for (const from of Object.values(folders))
    if (!existsSync(from))
      throw refuse(
        "core.conflict",
        `${from} is not there: is OBJECTS_URL right, its disk mounted?`,
      );
  const begunAt = new Date(systemClock.now()).toISOString();
  const hashes: Hashes = new Map();
  let size = 0;
  await fillFolder(folder, async (within) => {
    const copied = join(within, databaseName);
    const trees = Object.entries(folders).map(([name, from]) => {
      const [known, own] = [new Map<string, string>(), new Map<string, string>()];
      return { name, own, copy: () => copyTree(from, join(within, name), { known, hashes: own }) };
    });
    for (const { copy } of trees) await copy();
    writeSnapshot(database, copied);
    const fault = snapshotFault(copied);
    if (fault !== null) throw refuse("core.conflict", `${database}: ${fault}`);
    await syncFile(copied);
    for (const { copy } of trees) await copy();
    for (const { name, own } of trees)
      for (const [path, hash] of own) hashes.set(`${name}/${path}`, hash);
    hashes.set(databaseName, await hashFile(copied));
    const facts: Facts = { format: 1, service: service.name, version: service.version, begunAt };
    await writeFormat(within, facts, hashes);
    await expectAll(within, hashes);
    ({ size } = await stat(copied));
  });
  return `the database (${size} bytes) and ${hashes.size - 1} files, as they were after ${begunAt}`;
}

/** Throws `core.conflict` if somebody has removed a part meanwhile; has the disk keep the names. */
async function expectAll(folder: string, hashes: Hashes): Promise<void> {
  const there = await listTree(folder);
  const found = new Set(there);
  const missing = [...hashes.keys(), sumsName, factsName].filter((path) => !found.has(path));
  if (missing.length > 0)
    throw refuse("core.conflict", `${join(folder, missing[0] ?? "")} was removed meanwhile`);
  await syncFolders(folder, there);
}
