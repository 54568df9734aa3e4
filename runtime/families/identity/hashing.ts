// Schedules hashes: on a share of the process's threads, with addresses taking turns
// (architecture.md "Work is bounded").
import { availableParallelism } from "node:os";
import { Bulkhead } from "../../work/bulkhead.js";
import type { Lifetime } from "../../ports/lifetime.js";
import type { Payer } from "../../ports/work.js";

/** The invocation that needs a hash. */
export interface Hashing {
  /** An invocation's; null is the service itself. */
  readonly payer: Payer | null;
  readonly clientAddress: () => string;
  readonly lifetime: Lifetime;
  /** Whether it holds a write transaction, for which others wait: then it goes first. */
  readonly holdsTransaction?: boolean;
}

/**
 * How many hash at a time: half of the threads that files and hashes share, so that files never
 * wait for hashes, and not on the last core, which is the event loop's; one at least. `threads` is
 * `UV_THREADPOOL_SIZE`, 4 where it is not set. Measured on two busy cores, files beside a flood of
 * logins, medians: 2 235 ms with four, 140 with two, 80 with one.
 */
export function hashingPlaces(threads: string | undefined, cores: number): number {
  const given = Number.parseInt(threads ?? "", 10);
  const ofThreads = Math.floor((Number.isNaN(given) ? 4 : Math.min(given, 1_024)) / 2);
  return Math.max(1, Math.min(ofThreads, cores - 1));
}

/**
 * One queue for the whole process, as for its threads. Each hash takes 19 MiB, and an unbounded
 * queue would delay everybody.
 */
const places = new Bulkhead({
  what: "a free thread",
  size: hashingPlaces(process.env["UV_THREADPOOL_SIZE"], availableParallelism()),
  shareOf: () => Infinity,
  maxWaiting: 256,
  maxWaitingPerPayer: 32,
});

/** Runs a hash when it is its turn. Throws `core.unavailable` where too many wait. */
export function inTurn<T>(
  { payer, clientAddress, lifetime, holdsTransaction = false }: Hashing,
  hash: () => Promise<T>,
): Promise<T> {
  // By address, even for signed-in callers, because a flood of logins comes from addresses.
  const isFirst = holdsTransaction || payer === null;
  const address = isFirst ? null : { key: clientAddress(), isAnonymous: true };
  return places.within({ lifetime, payer: address }, async () => {
    lifetime.throwIfOver();
    return hash();
  });
}
