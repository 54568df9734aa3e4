// Periodic work of the service: one process at a time does it, in bounded batches, under a lease
// (architecture.md "Work is bounded").
import type { Database, Transaction } from "../ports/database.js";
import { Lifetime } from "../ports/lifetime.js";
import type { Clock } from "../ports/clock.js";
import type { Log } from "../ports/log.js";
import { uuidv7 } from "../ports/uuid.js";
import { drawFraction, sleep } from "../ports/ambient.js";

/** Periodic work in the database. It must be harmless if two processes do it at once. */
export interface PeriodicJob {
  /** The name of its lease. */
  readonly name: string;
  readonly everyMillis: number;
  /** Does one batch, in a transaction of its own; says whether there may be more. */
  batch(stores: Transaction): Promise<boolean>;
}

/**
 * Periodic work outside the database: no transaction is open meanwhile. Just as harmless if two
 * processes do it at once.
 */
export interface OutsideJob {
  readonly name: string;
  readonly everyMillis: number;
  /** Does one step, which takes less than a minute; says whether there may be more. */
  step(): Promise<boolean>;
}

export interface Periodic {
  /** Begins nothing more, and resolves when nothing is under way. */
  stop(): Promise<void>;
}

type Job = PeriodicJob | OutsideJob;

/** Milliseconds that one batch may take, and between two of them. */
const batchMillis = 10_000;
const pauseMillis = 10;
/**
 * A process first looks after a random part of this time, so that many that start together don't
 * all write at once.
 */
const spreadMillis = 5_000;
/** How long others wait for a process that died in the middle of its work. */
const leaseMillis = 60_000;

/** What the jobs work with. */
interface Tools {
  readonly clock: Clock;
  readonly database: Database;
  readonly log: Log;
}

/** Starts the jobs of a process. Each begins after a random pause, so that processes spread out. */
export function startPeriodic(
  { clock, database, log }: Tools,
  jobs: readonly (PeriodicJob | OutsideJob)[],
): Periodic {
  const holder = uuidv7();
  const state = { isStopped: false };
  /** By job: how to cancel its next run, and what it does now. */
  const waiting = new Map<Job, () => void>();
  const running = new Map<Job, Promise<void>>();
  const write = <T>(work: (stores: Transaction) => Promise<T>): Promise<T> =>
    database.write({ lifetime: Lifetime.within(batchMillis) }, work);

  /** Takes or keeps the job's lease for so many milliseconds; says whether this process has it. */
  const holds = async ({ name }: Job, millis: number): Promise<boolean> => {
    const now = clock.now();
    return (await write(({ leases }) => leases.take(name, holder, now, now + millis))) !== null;
  };
  const goOn = (job: Job): Promise<boolean> =>
    "step" in job ? job.step() : write((stores) => job.batch(stores));
  const once = async (job: Job): Promise<void> => {
    if (!(await holds(job, leaseMillis))) return;
    while (!state.isStopped && (await goOn(job))) {
      await sleep(pauseMillis);
      if (!(await holds(job, leaseMillis))) return;
    }
    // Until then the other processes leave it alone.
    await holds(job, job.everyMillis * 0.9);
  };
  const look = async (job: Job): Promise<void> => {
    try {
      await once(job);
    } catch (error) {
      log.error({ job: job.name, err: error }, "a periodic work failed, and is tried again");
    }
    if (!state.isStopped) lookAfter(job, job.everyMillis * (0.9 + drawFraction() * 0.2));
  };
  const lookAfter = (job: Job, millis: number): void => {
    const begin = (): Promise<void> => {
      const looking = look(job);
      running.set(job, looking);
      return looking;
    };
    waiting.set(job, clock.after(millis, begin));
  };
  for (const job of jobs)
    lookAfter(job, Math.min(spreadMillis, job.everyMillis / 10) * drawFraction());
  return {
    async stop() {
      state.isStopped = true;
      for (const takeBack of waiting.values()) takeBack();
      await Promise.all(running.values());
    },
  };
}
