// Making the index of a search anew: batch by batch under a lease, with its progress noted, so that it goes on where it was.
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Transaction } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import { uuidv7 } from "../../contract/uuid.js";
import type { RebuildPosition } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { searchStore } from "../../ports/search.js";

/** What is noted in the lease. */
interface Progress {
  readonly done: number;
  readonly total: number;
  readonly from: RebuildPosition;
}

/** How long a batch should take: writers of its documents wait for it. */
const batchMillis = 200;
/** Documents of a batch: at first, and at most. */
const firstBatch = 100;
const largestBatch = 4_000;
/** A document that a writer holds is waited for, as long as writers may take. */
const deadlineMillis = 60_000;
/** How long a rebuild that has died keeps the next one waiting. */
const leaseMillis = 5_000;

/** What is told of a rebuild while it goes on. */
export interface RebuildListener {
  onProgress(done: number, total: number): void;
  /** Another process is at it, or was until a moment ago; told once. */
  onWaiting?(): void;
}

/**
 * Brings the index in line with the documents, while writers write and searches search; goes on where an earlier rebuild
 * ended early. Waits for one that another process does. Returns how many documents the index is made of.
 */
export async function rebuildSearch(
  database: Database,
  spec: SearchSpec,
  listener: RebuildListener,
): Promise<number> {
  const lease = { name: `search.${spec.index}`, holder: uuidv7() };
  let hasWaited = false;
  for (let size = firstBatch; ;) {
    const started = performance.now();
    const progress = await database.write({ lifetime: Lifetime.within(deadlineMillis) }, (stores) =>
      batch(stores, spec, lease, size),
    );
    if (progress === null) {
      if (!hasWaited) listener.onWaiting?.();
      hasWaited = true;
      await sleep(leaseMillis / 10);
      continue;
    }
    const { done, total, isDone } = progress;
    listener.onProgress(done, total);
    if (isDone) return done;
    const wanted = (size * batchMillis) / Math.max(1, performance.now() - started);
    size = Math.round(Math.max(1, Math.min(wanted, 2 * size, largestBatch)));
  }
}

/** One batch, with what is done after it noted; null where another process holds the lease. */
async function batch(
  transaction: Transaction,
  spec: SearchSpec,
  { name, holder }: { readonly name: string; readonly holder: string },
  size: number,
): Promise<{ readonly done: number; readonly total: number; readonly isDone: boolean } | null> {
  const { leases } = transaction;
  const search = transaction.of(searchStore);
  const now = Date.now();
  const lease = await leases.take(name, holder, now, now + leaseMillis);
  if (lease === null) return null;
  // What the lease holds was noted here.
  const before = lease.state === null ? null : (JSON.parse(lease.state) as Progress);
  const total = before?.total ?? (await search.rebuildSize(spec));
  const { documents, next } = await search.rebuildStep(spec, before?.from ?? null, size);
  const done = (before?.done ?? 0) + documents;
  const progress: Progress | null = next === null ? null : { done, total, from: next };
  await leases.note(name, holder, progress === null ? null : JSON.stringify(progress));
  if (next === null) await leases.take(name, holder, now, now);
  return { done, total, isDone: next === null };
}
