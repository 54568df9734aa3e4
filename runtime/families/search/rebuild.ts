// Rebuilds the index of a search, batch by batch under a lease. The lease stores the progress, so
// that a rebuild can resume.
import type { Database, Transaction } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { RebuildPosition } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { searchStore } from "../../ports/search.js";
import { epochMillis, monotonicMillis, sleep } from "../../ports/ambient.js";

/** The progress, as the lease stores it. */
interface Progress {
  readonly done: number;
  readonly total: number;
  readonly from: RebuildPosition;
}

/** Milliseconds that a batch should take: writers of its documents have to wait for it. */
const batchMillis = 200;
/** Documents per batch, at first and at most. */
const firstBatch = 100;
const largestBatch = 4_000;
/**
 * The deadline of a batch in milliseconds: it may have to wait for a writer that holds a document.
 */
const deadlineMillis = 60_000;
/** Milliseconds for which a rebuild that has died keeps the next one waiting. */
const leaseMillis = 5_000;

/** Who is told about a rebuild while it runs. */
export interface RebuildListener {
  /** After each batch: how many documents of how many are done. */
  onProgress(done: number, total: number): void;
  /** Called once if another process is rebuilding the index, or was until a moment ago. */
  onWaiting?(): void;
}

/**
 * Brings the index in line with the documents, while writes and searches go on. Resumes a rebuild
 * that ended early, and waits for one that another process runs. Returns how many documents the
 * index was built from.
 */
export async function rebuildSearch(
  database: Database,
  spec: SearchSpec,
  listener: RebuildListener,
): Promise<number> {
  const lease = { name: `search.${spec.index}`, holder: uuidv7() };
  let hasWaited = false;
  for (let size = firstBatch; ;) {
    const started = monotonicMillis();
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
    const wanted = (size * batchMillis) / Math.max(1, monotonicMillis() - started);
    size = Math.round(Math.max(1, Math.min(wanted, 2 * size, largestBatch)));
  }
}

/** Indexes one batch and stores the progress. Null if another process holds the lease. */
async function batch(
  transaction: Transaction,
  spec: SearchSpec,
  { name, holder }: { readonly name: string; readonly holder: string },
  size: number,
): Promise<{ readonly done: number; readonly total: number; readonly isDone: boolean } | null> {
  const { leases } = transaction;
  const search = transaction.of(searchStore);
  const now = epochMillis();
  const lease = await leases.take(name, holder, now, now + leaseMillis);
  if (lease === null) return null;
  // The state was stored by `leases.note` below.
  const before = lease.state === null ? null : (JSON.parse(lease.state) as Progress);
  const total = before?.total ?? (await search.rebuildSize(spec));
  const { documents, next } = await search.rebuildStep(spec, before?.from ?? null, size);
  const done = (before?.done ?? 0) + documents;
  const progress: Progress | null = next === null ? null : { done, total, from: next };
  await leases.note(name, holder, progress === null ? null : JSON.stringify(progress));
  if (next === null) await leases.take(name, holder, now, now);
  return { done, total, isDone: next === null };
}
