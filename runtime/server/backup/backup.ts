// Copies what the embedded engines keep, while the service goes on.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../ports/clock.js";
import { fillFolder } from "../data-folder.js";
import { copyTree, hashFile, syncFile, type Hashes } from "./copied-tree.js";
import { databaseName, writeFormat, type Facts } from "./format.js";
import { refuse, type BackupPlace } from "./place.js";

/**
 * Files are copied, then the database, then the files that came meanwhile: so each file that the
 * database knows is there, unless it was removed meanwhile.
 */
export async function backUp({ service, folder, database, folders }: BackupPlace): Promise<string> {
  const { writeSnapshot } = await import("../../engines/sqlite/snapshot.js");
  if (!existsSync(database)) throw refuse("core.conflict", `there is no database yet: ${database}`);
  const begunAt = new Date(systemClock.now()).toISOString();
  const hashes: Hashes = new Map();
  await fillFolder(folder, async (within) => {
    const trees = Object.entries(folders).map(([name, from]) => {
      const [known, own] = [new Map<string, string>(), new Map<string, string>()];
      return { name, own, copy: () => copyTree(from, join(within, name), { known, hashes: own }) };
    });
    for (const { copy } of trees) await copy();
    writeSnapshot(database, join(within, databaseName));
    await syncFile(join(within, databaseName));
    for (const { copy } of trees) await copy();
    for (const { name, own } of trees)
      for (const [path, hash] of own) hashes.set(`${name}/${path}`, hash);
    hashes.set(databaseName, await hashFile(join(within, databaseName)));
    const facts: Facts = { format: 1, service: service.name, version: service.version, begunAt };
    await writeFormat(within, facts, hashes);
  });
  const { size } = await stat(join(folder, databaseName));
  return `the database (${size} bytes) and ${hashes.size - 1} files, as they were after ${begunAt}`;
}
