// Works on runs of jobs: claims them in turns, calls the author's functions, and notes how they
// ended (service.md "Jobs").
import { firstName, presentName, storedNames } from "../../contract/former-names.js";
import type { ServiceAtWork, Started } from "../../operations/family.js";
import { tally } from "../../operations/tally.js";
import { messageOf } from "../../operations/thrown.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore, type ClaimedRun, type RunEnd, type RunLimit } from "../../ports/jobs.js";
import { idsOf } from "../../ports/tracer.js";
import {
  startQueue,
  storeMillis,
  type AttemptEnd,
  type ClaimedWork,
  type LeaseWindow,
} from "../../work/queue.js";
import { writeTogether } from "../../work/together.js";
import { keptUntil } from "./kept-for.js";
import { reasonOf } from "./reason.js";
import { runJob } from "./run-job.js";
import { firePlans, keepSchedules, plansOf } from "./schedules.js";
import type { JobSettings } from "./settings.js";
import type { JobDeclaration, JobsSpec } from "./spec.js";
import { storableText } from "./storable.js";
import { JobTurns } from "./turns.js";

const longestWaitMillis = 60 * 60_000;
/** Runs whose time has come that one transaction makes ready. */
const ripenedAtOnce = 1_000;
/** Milliseconds between two looks at whether schedules are as they should be. */
const keepMillis = 60_000;
/** Milliseconds until an end is noted again that could not be. */
const againMillis = 1_000;

/** How an attempt of a run ended. */
interface RunAttemptEnd extends AttemptEnd {
  /** When it goes on, if it sleeps. */
  readonly sleepsUntil: number | null;
  /** What was thrown, for the log. */
  readonly fault: unknown;
}

/** What runs are worked on with. */
interface Working {
  readonly spec: JobsSpec;
  readonly service: ServiceAtWork;
  readonly settings: JobSettings;
}

/** Starts to work on runs. Several processes may do so on one database. */
export function startWorker(
  spec: JobsSpec,
  service: ServiceAtWork,
  settings: JobSettings,
): Started | null {
  if (settings.slots === 0) return null;
  const { clock, database, log } = service;
  const settle = settler({ spec, service, settings });
  const poller = startQueue<ClaimedRun, RunAttemptEnd>({
    clock,
    log,
    // Each run has its own.
    maxAttempts: Infinity,
    backoff: {
      firstMillis: settings.backoffMillis,
      longestMillis: longestWaitMillis,
      leastShare: 0.5,
    },
    messages: {
      unread: "jobs could not be read",
      unnoted: "how a job ended could not be noted",
    },
    waitsFor: "the job",
    long: {
      leaseMillis: settings.leaseMillis,
      patienceMillis: ({ job }) => (spec.jobs[job]?.timeoutSeconds ?? 0) * 1_000,
      async renew(runs, leaseUntil) {
        const held = await database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
          stores.of(jobStore).renew(runs, leaseUntil),
        );
        const ids = new Set(held);
        return runs.filter(({ id }) => ids.has(id));
      },
    },
    claim: claimer({ spec, service, settings }),
    attempt: (run, lifetime) => attempt({ spec, service, settings }, run, lifetime),
    endBy: (fault, run) => failed(storableText(messageOf(fault)), isLast(run), fault),
    async settle(run, attempted, at, dueAt) {
      const end = endOf(spec.jobs[run.job], attempted, at, dueAt);
      if (await settle({ run, end, at })) noteEnd(service, run, end, attempted.fault);
    },
    async release(run, at) {
      await settle({ run, end: { kind: "released" }, at });
    },
  });
  service.whenWoken(jobStore, poller.wake);
  return poller;
}

interface Settled {
  readonly run: ClaimedRun;
  readonly end: RunEnd;
  readonly at: number;
}

/**
 * Makes the function that notes an end, together with others; says whether the run was held. What
 * can't be noted with others is noted alone, so that it keeps no other from being noted.
 */
function settler({ service, settings }: Working): (one: Settled) => Promise<boolean> {
  const note = async (ends: readonly Settled[]): Promise<readonly boolean[]> => {
    const at = Math.max(...ends.map((one) => one.at));
    const noted = ends.map(({ run, end }) => ({ id: run.id, claim: run.claim, end }));
    const held = new Set(
      await service.database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
        stores.of(jobStore).settle(noted, at),
      ),
    );
    return ends.map(({ run }) => held.has(run.id));
  };
  const noteTogether = writeTogether(note);
  /** Until another process may have the run: a database that was away is there again by then. */
  const noteAlone = async (one: Settled): Promise<boolean> => {
    for (const until = monotonicMillis() + settings.leaseMillis; ;)
      try {
        const [isHeld = false] = await note([one]);
        return isHeld;
      } catch (error) {
        if (monotonicMillis() + againMillis > until) throw error;
        await sleep(againMillis, undefined, { ref: false });
      }
  };
  return (one) => noteTogether(one).catch(() => noteAlone(one));
}

/** Makes the function that claims runs, in turns between tenants. */
function claimer({ spec, service, settings }: Working) {
  const { database } = service;
  const turns = new JobTurns(settings.slots);
  const stored = storedNames(spec.was, Object.keys(spec.jobs));
  const schedules = [...plansOf(spec).keys()];
  const limits = limitsOf(spec, stored);
  const startedAt = service.clock.now();
  const inStore = <T>(work: (stores: Transaction) => Promise<T>): Promise<T> =>
    database.write({ lifetime: Lifetime.within(storeMillis) }, work);
  let keptAt = -Infinity;
  let last: string | null = null;

  return async ({ now, leaseUntil }: LeaseWindow): Promise<ClaimedWork<ClaimedRun> | null> => {
    if (schedules.length > 0 && Math.abs(now - keptAt) >= keepMillis) {
      // What is new counts from the start.
      const from = keptAt === -Infinity ? startedAt : now;
      await inStore((stores) => keepSchedules(spec, service, stores, from));
      keptAt = now;
    }
    const work = await database.reader.of(jobStore).work(schedules, now);
    // Also where there is no room: a time is not missed because others are busy.
    if (work.isPlanned) await firePlans(spec, service, now);
    const ripen = async (stores: Transaction): Promise<number> =>
      work.isDue ? stores.of(jobStore).ripen(now, ripenedAtOnce, keptUntil(now)) : 0;
    if (turns.room <= 0) {
      // What waits for room is ready, and counted so.
      if (work.isDue) await inStore(ripen);
      return null;
    }
    if (!work.isReady && !work.isDue && !work.isPlanned) return null;
    const { claimed, ripened, next } = await inStore(async (stores) => {
      const store = stores.of(jobStore);
      const ripe = await ripen(stores);
      const paused = await store.paused();
      const isPaused = (job: string): boolean =>
        paused.includes(firstName(spec.was, presentName(spec.was, job)));
      const begun = stored.filter((job) => !isPaused(job));
      const claim = await store.claim({
        leaseUntil,
        after: last,
        jobs: begun,
        limits,
        turnsOf: (lanes) => turns.choose(lanes),
      });
      return { claimed: claim.claimed, ripened: ripe, next: claim.last };
    });
    last = next;
    const batches = claimed.map((run) => {
      turns.begin(run);
      const item = { ...run, job: presentName(spec.was, run.job) };
      return { items: [item], end: () => turns.end(run) };
    });
    return {
      batches,
      isMore: batches.length > 0 || ripened === ripenedAtOnce || last !== null,
    };
  };
}

/** Limits by the names under which runs are stored. */
function limitsOf({ jobs, was }: JobsSpec, stored: readonly string[]) {
  return Object.fromEntries(
    stored.flatMap((name): readonly (readonly [string, RunLimit])[] => {
      const limit = jobs[presentName(was, name)]?.limit;
      return limit === undefined ? [] : [[name, limit]];
    }),
  );
}

async function attempt(
  { spec, service }: Working,
  run: ClaimedRun,
  lifetime: Lifetime,
): Promise<RunAttemptEnd> {
  if (!run.hasStanding)
    return failed("whoever enqueued it is inactive or no longer a member", true, undefined);
  const { fault, stops } = await runJob(spec, service, run, lifetime);
  if (stops.sleepsUntil !== null) return { ...done, sleepsUntil: stops.sleepsUntil };
  if (stops.givenUp !== null) return failed(storableText(stops.givenUp.reason), true, undefined);
  if (fault === null) return done;
  const { error } = fault;
  const isOverdue = lifetime.remainingMillis <= 0;
  const reason = reasonOf(error, isOverdue ? (spec.jobs[run.job]?.timeoutSeconds ?? null) : null);
  return failed(reason, isLast(run), error);
}

/** Whether no attempt is left. */
function isLast({ attempt: number, maxAttempts }: ClaimedRun): boolean {
  return number >= maxAttempts;
}

const done: RunAttemptEnd = {
  reason: null,
  isAnswered: true,
  isFinal: false,
  sleepsUntil: null,
  fault: undefined,
};

/** The end of an attempt that doesn't count if the service stops. */
function failed(reason: string, isFinal: boolean, fault: unknown): RunAttemptEnd {
  return { reason, isAnswered: false, isFinal, sleepsUntil: null, fault };
}

/** What is noted of an attempt. */
function endOf(
  declaration: JobDeclaration | undefined,
  { reason, sleepsUntil }: Pick<RunAttemptEnd, "reason" | "sleepsUntil">,
  at: number,
  dueAt: number | null,
): RunEnd {
  if (sleepsUntil !== null) return { kind: "sleeps", dueAt: sleepsUntil };
  if (reason === null) {
    const kept = declaration?.keepSeconds;
    return { kind: "done", keptUntil: kept === undefined ? null : at + kept * 1_000 };
  }
  if (dueAt === null) return { kind: "failed", keptUntil: keptUntil(at), error: reason };
  return { kind: "again", dueAt, error: reason };
}

/** A failed attempt is a line of the log and a count of the metrics. */
function noteEnd(service: ServiceAtWork, run: ClaimedRun, end: RunEnd, fault: unknown): void {
  const { id, job, tenant, attempt: number, traceparent } = run;
  const about = { run: id, job, tenant, attempt: number, ...idsOf(traceparent) };
  if (end.kind === "done") {
    tally(service, "jobs_done");
    service.log.debug(about, "a job is done");
  }
  if (end.kind !== "failed" && end.kind !== "again") return;
  tally(service, "jobs_failed");
  const entry = { ...about, reason: end.error, ...(fault === undefined ? {} : { err: fault }) };
  if (end.kind === "again") service.log.warn(entry, "a job failed, and is tried again");
  else {
    tally(service, "jobs_given_up");
    service.log.error(entry, "a job has failed");
  }
}
