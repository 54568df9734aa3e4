// Makes a database again from its continuous backup, where there is none.
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../../../contract/errors.js";
import { privateFile } from "../../../engines/private-files.js";
import { sleep } from "../../../ports/ambient.js";
import { databaseName } from "../format.js";
import { refuse } from "../place.js";
import { expectNoDatabase, placeDatabase } from "../restore.js";
import type { BackupStore } from "./backup-store.js";
import { pathToNewest, type WholeDelta } from "./lineage.js";
import { writeLocalState, type LocalState } from "./local-state.js";
import { PageHashes } from "./page-hashes.js";
import { readPart, type PartContent } from "./part-content.js";
import { tellReason } from "./reason.js";

/** How often a part is fetched, and the first pause before it is fetched again, in milliseconds. */
const mostAttempts = 4;
const pauseMillis = 500;
/** Parts that are fetched before they are needed. */
const partsAhead = 8;

export interface BroughtBack {
  /** When everything that is there was committed, at the latest; milliseconds since 1970. */
  readonly at: number;
  /** Bytes of the database. */
  readonly bytes: number;
  /** The version of the service that has written this state. */
  readonly version: string;
}

/**
 * Makes the newest state, or the newest until a time. Rejects with `core.conflict` if a database is
 * there, and if the backup has none.
 */
export async function bringBack(
  store: BackupStore,
  database: string,
  until: number | undefined,
): Promise<BroughtBack> {
  const { snapshotFault } = await import("../../../engines/sqlite/snapshot.js");
  const { markRestoring } = await import("../../../engines/sqlite/restoring.js");
  const series = await onlySeries(store);
  const way = pathToNewest(await store.readLineage(series), until);
  const newest = way?.at(-1);
  if (way === null || newest === undefined)
    throw refuse(
      "core.conflict",
      until === undefined
        ? "the backup has no whole state yet"
        : `the backup has no state of ${new Date(until).toISOString()} or before`,
    );
  expectNoDatabase(database);
  const mark = markRestoring(database);
  try {
    const staged = join(mark.folder, databaseName);
    const { pageSize, hashes, version } = await writeStates(store, way, staged);
    const fault = snapshotFault(staged);
    if (fault !== null) throw refuse("core.conflict", `the state of the backup: ${fault}`);
    await writeLocalState(database, { series, state: newest.to, pageSize, hashes });
    // Last, since a database that is there says that all of it is.
    await placeDatabase(staged, database);
    mark.remove();
    return { at: newest.at, bytes: pageSize * hashes.pageCount, version };
  } finally {
    mark.release();
  }
}

async function onlySeries(store: BackupStore): Promise<string> {
  const [series, ...others] = await store.listSeries();
  if (series === undefined)
    throw refuse("core.conflict", "BACKUP_URL has no backup of this service");
  if (others.length === 0) return series;
  throw refuse(
    "core.conflict",
    `BACKUP_URL has backups of several databases, ${[series, ...others].join(", ")}: move the others away`,
  );
}

/** Writes one delta over the other. */
async function writeStates(
  store: BackupStore,
  way: readonly WholeDelta[],
  path: string,
): Promise<Pick<LocalState, "pageSize" | "hashes"> & Pick<BroughtBack, "version">> {
  const keys = way.flatMap((delta) => delta.keys);
  const hashes = new PageHashes();
  let size: number | undefined;
  let version = "";
  const file = await open(path, "w", privateFile);
  try {
    for await (const [key, part] of readAhead(keys, (own) => fetchPart(store, own))) {
      size ??= part.pageSize;
      ({ version } = part);
      if (part.pageSize !== size)
        throw refuse("core.conflict", `${key}: its pages have another size`);
      hashes.resize(Math.max(hashes.pageCount, part.pageCount));
      await writePages(file, part);
      for (const [at, number] of part.numbers.entries())
        hashes.set(number, PageHashes.of(part.pages[at] ?? Buffer.alloc(0)));
      hashes.resize(part.pageCount);
    }
    const pageSize = size ?? 0;
    await file.truncate(pageSize * hashes.pageCount);
    await file.sync();
    return { pageSize, hashes, version };
  } finally {
    await file.close();
  }
}

async function fetchPart(store: BackupStore, key: string): Promise<PartContent> {
  const bytes = await fetchBytes(store, key);
  try {
    return await readPart(bytes);
  } catch (error) {
    throw refuse("core.conflict", `${key} is damaged: ${tellReason(error)}`);
  }
}

/** Tries again where the connection breaks, or the store has no time. */
async function fetchBytes(store: BackupStore, key: string): Promise<Buffer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.readPart(key);
    } catch (error) {
      const mayPass = !(error instanceof ServiceError) || error.code === "core.unavailable";
      if (mayPass && attempt < mostAttempts) await sleep(attempt * pauseMillis);
      else if (error instanceof ServiceError && error.code === "core.conflict") throw error;
      else throw refuse("core.conflict", `${key} can't be read: ${tellReason(error)}`);
    }
  }
}

/** Writes pages where they belong, those next to each other at once. */
async function writePages(
  file: FileHandle,
  { numbers, pages, pageSize }: PartContent,
): Promise<void> {
  for (let first = 0; first < numbers.length;) {
    let end = first + 1;
    while (end < numbers.length && numbers[end] === (numbers[end - 1] ?? 0) + 1) end += 1;
    const run = Buffer.concat(pages.slice(first, end));
    const at = ((numbers[first] ?? 1) - 1) * pageSize;
    for (let from = 0; from < run.length;)
      from += (await file.write(run, from, run.length - from, at + from)).bytesWritten;
    first = end;
  }
}

/** What `read` makes of each key, in their order; some are read ahead. */
async function* readAhead<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T>,
): AsyncGenerator<readonly [string, T]> {
  const ahead: Promise<T>[] = [];
  for (const [at, key] of keys.entries()) {
    for (let next = at + ahead.length; next < keys.length && ahead.length < partsAhead; next += 1) {
      const reading = read(keys[next] ?? "");
      // If an earlier one fails, nobody waits for this one.
      reading.catch(() => undefined);
      ahead.push(reading);
    }
    const value = await ahead.shift();
    if (value !== undefined) yield [key, value];
  }
}
