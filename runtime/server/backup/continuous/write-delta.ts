// Writes a delta to a backup, in parts of a few megabytes.
import { nextTurn } from "../../../ports/ambient.js";
import type { PageSet } from "../../../ports/archive.js";
import type { BackupStore } from "./backup-store.js";
import type { Delta } from "./delta.js";
import { writePart, type PartFacts } from "./part-content.js";
import { hashBytes, PageHashes } from "./page-hashes.js";

/** Pages of a part; those that are read at once, since that blocks others; parts under way. */
const pagesPerPart = 1_024;
const pagesAtOnce = 64;
const partsAtOnce = 4;

export interface WrittenDelta {
  readonly delta: Delta;
  /** The hashes of its pages, one after the other. */
  readonly hashes: Buffer;
  /** Bytes that were written. */
  readonly bytes: number;
}

export interface DeltaToWrite extends Pick<Delta, "from" | "to" | "at"> {
  readonly series: string;
  readonly facts: Omit<PartFacts, "pageCount">;
  readonly pages: PageSet;
}

/** Resolves once all of it is durable. If it rejects, parts that are there count for nothing. */
export async function writeDelta(
  store: BackupStore,
  { series, facts, pages, ...state }: DeltaToWrite,
  signal: AbortSignal,
): Promise<WrittenDelta> {
  const { numbers, pageCount, read } = pages;
  const parts = Math.max(1, Math.ceil(numbers.length / pagesPerPart));
  const delta = { ...state, pages: numbers.length, parts };
  const hashes = Buffer.alloc(numbers.length * hashBytes);
  const failed = new AbortController();
  const until = AbortSignal.any([signal, failed.signal]);
  let bytes = 0;
  let part = 0;
  const writeNext = async (): Promise<void> => {
    while (part < parts) {
      part += 1;
      const own = part;
      const first = (own - 1) * pagesPerPart;
      const some = numbers.slice(first, first + pagesPerPart);
      const contents: Buffer[] = [];
      for (let at = 0; at < some.length; at += pagesAtOnce) {
        until.throwIfAborted();
        for (const page of read(some.slice(at, at + pagesAtOnce))) {
          hashes.set(PageHashes.of(page), (first + contents.length) * hashBytes);
          contents.push(page);
        }
        if (some.length > pagesAtOnce) await nextTurn();
      }
      const content = await writePart({ ...facts, pageCount, numbers: some, pages: contents });
      await store.writePart(series, { delta, part: own }, content, until);
      bytes += content.length;
    }
  };
  const writing = Array.from({ length: Math.min(parts, partsAtOnce) }, () =>
    writeNext().catch((error: unknown) => failed.abort(error)),
  );
  // Also after a fault: nothing reads the pages any more once this has ended.
  await Promise.all(writing);
  until.throwIfAborted();
  return { delta, hashes, bytes };
}
