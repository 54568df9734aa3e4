// Rows of older shapes are stored anew once no process of an older version is left: batch by batch,
// its progress noted, so that any process goes on where another one was.
import { ServiceError } from "../../contract/errors.js";
import { shapeNumber } from "../../contract/shapes.js";
import type { Log } from "../../ports/log.js";
import type { PeriodicJob } from "../../work/periodic.js";
import type { Database, Transaction } from "../../ports/database.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import type { LeaseStore } from "../../ports/leases.js";
import { Lifetime } from "../../ports/lifetime.js";
import { olderProcesses, type Announced } from "./announcement.js";
import { epochMillis, monotonicMillis, sleep } from "../../ports/ambient.js";

/** How far the walk over the rows of a type is. */
export interface Progress {
  readonly after: readonly (string | number)[];
  readonly looked: number;
  readonly renewed: number;
  /** Rows that a writer had. They are looked at again. */
  readonly left: number;
  /** About how many rows there are. */
  readonly total: number;
  /** When all rows were known to be of this shape. */
  readonly doneAt: number | null;
}

/** The outcome of a step: it waits for older processes, there is more to do, or nothing. */
export type Step =
  | { readonly kind: "waiting"; readonly processes: readonly Announced[] }
  | {
      readonly kind: "more" | "done";
      readonly progress: Progress;
      /** The ids of rows of the batch that stay, since others have their unique values. */
      readonly clashing: readonly string[];
      /** Rows that it looked at, and how long they took. */
      readonly moved: number;
      readonly millis: number;
    };

/**
 * How long the rows of a batch should take, in milliseconds: writers wait for it on SQLite. Fewest
 * rows, and most.
 */
const batchMillis = 50;
const smallestBatch = 100;
const largestBatch = 4_000;
/**
 * A walk that ended is believed for so long after this version has lived: an older one may have
 * written since.
 */
const believedMillis = 15 * 60_000;
const longestBatchMillis = 10_000;
/**
 * What lies between two batches: another process that waits for SQLite's write lock asks for it
 * every 5 to 25 ms.
 */
const pauseMillis = 25;
/** How long batches may fail before it is given up. */
const failingMillis = 60_000;
const lookMillis = 60_000;
const toldMillis = 10_000;
const holder = "rows";

/**
 * The progress of a version has a lease of its own: whoever takes the next batch holds it until
 * that is committed.
 */
function leaseName({ table, shape }: AnyDocumentSpec): string {
  return `rows.${table}.${shapeNumber(shape)}`;
}

/** Does the next batch, if no process of an older version lives. */
export async function renewalStep(
  transaction: Transaction,
  spec: AnyDocumentSpec,
  limit: number,
): Promise<Step> {
  const { leases } = transaction;
  const name = leaseName(spec);
  const now = epochMillis();
  const lease = await leases.take(name, holder, now, now + believedMillis);
  const note = (progress: Progress | null): Promise<boolean> =>
    leases.note(name, holder, progress === null ? null : JSON.stringify(progress));
  const noted = progressOf(lease?.state ?? null);
  const processes = await olderProcesses(leases, spec);
  if (processes.length > 0) {
    // Rows that they write meanwhile may stand anywhere.
    if (noted !== null) await note(null);
    return { kind: "waiting", processes };
  }
  if (noted !== null && noted.doneAt !== null && noted.doneAt > now - believedMillis) {
    await note({ ...noted, doneAt: now });
    return { kind: "done", progress: noted, clashing: [], moved: 0, millis: 0 };
  }
  const store = transaction.of(documentStore);
  const from = noted === null || noted.doneAt !== null ? begun(await store.size(spec)) : noted;
  const started = monotonicMillis();
  const attempt: Transaction["attempt"] = (work) => transaction.attempt(work);
  const found = await store.renew(spec, from.after, limit, attempt);
  const { looked, renewed, left, clashing, next } = found;
  const millis = monotonicMillis() - started;
  const seen = {
    ...from,
    looked: from.looked + looked,
    renewed: from.renewed + renewed,
    left: from.left + left,
  };
  const isDone = next === null && seen.left === 0;
  const progress: Progress = {
    ...seen,
    ...(next === null && !isDone ? { looked: 0, left: 0 } : {}),
    after: next ?? [],
    doneAt: isDone ? now : null,
  };
  await note(progress);
  return { kind: isDone ? "done" : "more", progress, clashing, moved: looked, millis };
}

function begun(total: number): Progress {
  return { after: [], looked: 0, renewed: 0, left: 0, total, doneAt: null };
}

function progressOf(state: string | null): Progress | null {
  // The lease's value was noted here.
  return state === null ? null : (JSON.parse(state) as Progress);
}

/**
 * Does batches of as many rows as fit into the time that one may take. What else a batch waits for
 * (its turn, its commit) does not count: it is no less where there are fewer rows.
 */
function batches(spec: AnyDocumentSpec): (transaction: Transaction) => Promise<Step> {
  let size = smallestBatch;
  return async (transaction) => {
    const step = await renewalStep(transaction, spec, size);
    if (step.kind === "waiting") return step;
    const wanted = (size * batchMillis) / Math.max(1, step.millis);
    size = Math.round(Math.max(smallestBatch, Math.min(wanted, 2 * size, largestBatch)));
    return step;
  };
}

/** Brings up the rows of a type in the background, and says in the log how far it is. */
export function renewalJob(spec: AnyDocumentSpec, log: Log): PeriodicJob {
  const next = batches(spec);
  let toldAt = -Infinity;
  const tell = ({ kind }: Step, { looked, renewed, total }: Progress): void => {
    const isDue = monotonicMillis() - toldAt > toldMillis;
    if (kind === "more" ? !isDue : toldAt === -Infinity) return;
    toldAt = kind === "more" ? monotonicMillis() : -Infinity;
    const state = kind === "more" ? "are being brought up" : "have been brought up";
    log.info({ looked, renewed, total }, `rows of ${spec.table} ${state}`);
  };
  return {
    name: `documents.${spec.table}.renewal`,
    everyMillis: lookMillis,
    async batch(transaction) {
      const step = await next(transaction);
      if (step.kind === "waiting") return false;
      tell(step, step.progress);
      if (step.clashing.length > 0)
        log.error(
          {
            table: spec.table,
            count: step.clashing.length,
            ids: step.clashing.slice(0, mostNamed),
          },
          "documents can't be brought up: others have their values of a unique rule",
        );
      return step.kind === "more";
    },
  };
}

/** Of rows that can't be brought up, so many are named. */
export const mostNamed = 20;

/** Who watches rows being brought up, and may stop that between two batches. */
export interface RenewWatch {
  onProgress(looked: number, total: number): void;
  onClash(ids: readonly string[]): void;
  readonly signal: AbortSignal;
}

/**
 * Does batches until there is nothing to do, something has to be waited for, or the signal says to
 * stop.
 */
export async function renewRows(
  database: Database,
  spec: AnyDocumentSpec,
  { onProgress, onClash, signal }: RenewWatch,
): Promise<Step> {
  const next = batches(spec);
  let failingSince: number | null = null;
  for (;;) {
    try {
      const lifetime = Lifetime.within(longestBatchMillis);
      const step = await database.write({ lifetime }, next);
      failingSince = null;
      if (step.kind !== "waiting" && step.moved > 0)
        onProgress(step.progress.looked, step.progress.total);
      if (step.kind !== "waiting" && step.clashing.length > 0) onClash(step.clashing);
      if (step.kind !== "more" || signal.aborted) return step;
    } catch (error) {
      // Others may have the write lock of SQLite again and again, and a server may be away for a
      // while.
      failingSince ??= monotonicMillis();
      if (!passes(error) || monotonicMillis() - failingSince > failingMillis) throw error;
    }
    await sleep(pauseMillis);
  }
}

function passes(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 503 || error.status === 504);
}

/** About how many rows of these types have still to be looked at. */
export async function rowsToRenew(
  transaction: Transaction,
  documents: readonly AnyDocumentSpec[],
): Promise<number> {
  const known = await statesOf(transaction.leases);
  const sizes = documents.map(async (spec) => {
    const progress = progressOf(known.get(leaseName(spec)) ?? null);
    if (progress === null) return transaction.of(documentStore).size(spec);
    return progress.doneAt === null ? Math.max(0, progress.total - progress.looked) : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function statesOf(leases: LeaseStore): Promise<ReadonlyMap<string, string | null>> {
  const held = await leases.held("rows.", epochMillis());
  return new Map(held.map(({ name, state }) => [name, state]));
}
