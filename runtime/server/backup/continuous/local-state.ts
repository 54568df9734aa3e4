// What a database's own disk knows of its continuous backup: which one it is, and what the backup
// has. It is beside the database, and goes with it.
import { open, readFile, rename } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../../../engines/disk-faults.js";
import { syncFolder } from "../../../engines/folder/durable-files.js";
import { privateFile } from "../../../engines/private-files.js";
import { isObject } from "../../../contract/json-pointer.js";
import { isSeries } from "./backup-store.js";
import { PageHashes } from "./page-hashes.js";
import type { StateId } from "./delta.js";

export interface LocalState {
  /** The name of the series of states in the backup that this database goes on with. */
  readonly series: string;
  /** The state that the hashes are of; null if none is known to be kept. */
  readonly state: StateId | null;
  readonly pageSize: number;
  readonly hashes: PageHashes;
}

function fileOf(database: string): string {
  return `${database}-backup`;
}

/** Whether a database has been kept, also if it is gone itself. */
export function isKept(database: string): boolean {
  return existsSync(fileOf(database));
}

/** Null if there is none, or none that can be read: then all pages count as new. */
export async function readLocalState(database: string): Promise<LocalState | null> {
  const bytes = await readFile(fileOf(database)).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return Buffer.alloc(0);
    throw error;
  });
  const end = bytes.indexOf("\n");
  const facts = parse(bytes.subarray(0, Math.max(end, 0)).toString());
  if (!isObject(facts) || facts["format"] !== 1) return null;
  const { series, state, pageSize, pages } = facts;
  const hashes = new PageHashes(Buffer.from(bytes.subarray(end + 1)));
  if (typeof series !== "string" || !isSeries(series)) return null;
  const isWhole =
    typeof state === "string" && typeof pageSize === "number" && pages === hashes.pageCount;
  return isWhole
    ? { series, state, pageSize, hashes }
    : { series, state: null, pageSize: 0, hashes: new PageHashes() };
}

/** Writes it durably, whole or not at all. */
export async function writeLocalState(
  database: string,
  { series, state, pageSize, hashes }: LocalState,
): Promise<void> {
  const path = fileOf(database);
  const begun = `${path}.new`;
  const facts = { format: 1, series, state, pageSize, pages: hashes.pageCount };
  const file = await open(begun, "w", privateFile);
  try {
    await file.writeFile(Buffer.from(`${JSON.stringify(facts)}\n`));
    await file.writeFile(hashes.toBuffer());
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(begun, path);
  await syncFolder(dirname(path));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
