// Schedules of jobs: when each is next due, and the runs that it adds, once among all processes
// (service.md "Jobs").
import { Cron } from "croner";
import { defaultTenant } from "../../contract/default-tenant.js";
import { firstName } from "../../contract/former-names.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore, type JobSchedule, type NewRun } from "../../ports/jobs.js";
import { tenantStore } from "../../ports/tenants.js";
import { uuidv7 } from "../../ports/uuid.js";
import { storeMillis } from "../../work/queue.js";
import { prepareRun } from "./new-run.js";
import type { JobDeclarations, JobPlan, JobsSpec } from "./spec.js";

/** A time that is missed by more than this was missed. */
const graceMillis = 60_000;
/** Missed times that are made up for at most. */
const mostMissed = 1_000;
/** Of those, times for which one transaction adds a run for each tenant. */
const mostAtOnce = 10;
/** Tenants that are read, and runs that are added, at once. */
const pageSize = 1_000;
/** A schedule whose pattern has no time any more, such as one for 31 February, is never due. */
const never = 8_640_000_000_000_000;

/** The first time of a plan behind another one, in epoch milliseconds. */
export function nextTime(plan: JobPlan, after: number): number {
  return timeBehind(patternOf(plan), after);
}

function timeBehind(pattern: Cron, time: number): number {
  return pattern.nextRun(new Date(time))?.getTime() ?? never;
}

/**
 * The schedules of a service by their ids. A version that computes times otherwise has a schedule
 * of its own, so that versions side by side don't set each other's back; one that calls the job
 * otherwise has the same.
 */
export function plansOf({ jobs, was }: JobDeclarations): ReadonlyMap<string, Planned> {
  const planned = Object.entries(jobs).flatMap(([job, { plan }]) =>
    plan === undefined ? [] : [{ job, plan }],
  );
  return new Map(
    planned.map((one) => {
      const { cron, timezone } = one.plan;
      return [`${firstName(was, one.job)} ${cron} ${timezone}`, one];
    }),
  );
}

/** A job that runs by itself. */
interface Planned {
  readonly job: string;
  readonly plan: JobPlan;
}

/**
 * Begins the schedules that have not begun yet, from a time on, and sets back those that a clock
 * which was ahead has moved behind times to come. What another process has moved on meanwhile is
 * right: the clock is read once the schedules have been.
 */
export async function keepSchedules(
  spec: JobsSpec,
  { clock, log }: Pick<ServiceAtWork, "clock" | "log">,
  stores: Transaction,
  from: number,
): Promise<void> {
  const plans = plansOf(spec);
  const store = stores.of(jobStore);
  const begun = new Map((await store.schedules([...plans.keys()])).map((one) => [one.id, one]));
  const now = clock.now();
  for (const [id, { job, plan }] of plans) {
    const known = begun.get(id);
    if (known === undefined) await store.beginSchedule({ id, nextAt: nextTime(plan, from) });
    // Clocks of processes differ a little: what another has just moved on is right.
    else if (known.nextAt > nextTime(plan, now + graceMillis))
      if (await store.moveSchedule(known, nextTime(plan, now)))
        log.warn({ job }, "a schedule is set back: a clock has been ahead");
  }
}

/**
 * Adds the runs of schedules that are due. Whichever process moves a schedule on adds its runs, in
 * the same transaction, so that there is one for each time. A schedule that can't be fired is told
 * of in the log, and keeps neither others nor runs that wait.
 */
export async function firePlans(
  spec: JobsSpec,
  service: ServiceAtWork,
  now: number,
): Promise<void> {
  const plans = plansOf(spec);
  for (const due of await service.database.reader.of(jobStore).schedules([...plans.keys()])) {
    const planned = plans.get(due.id);
    if (planned === undefined || due.nextAt > now) continue;
    try {
      await fire(spec, service, { ...planned, due, now });
    } catch (err) {
      service.log.error({ err, job: planned.job }, "the runs of a schedule could not be added");
    }
  }
}

/** A schedule that is due. */
interface DuePlan extends Planned {
  readonly due: JobSchedule;
  readonly now: number;
}

async function fire(
  spec: JobsSpec,
  service: ServiceAtWork,
  { job, plan, due, now }: DuePlan,
): Promise<void> {
  const { times, next } = timesOf(plan, due.nextAt, now);
  const run = preparePlanned(spec, service, job, now);
  await service.database.write({ lifetime: Lifetime.within(storeMillis) }, async (stores) => {
    const store = stores.of(jobStore);
    if (!(await store.moveSchedule(due, next))) return;
    if ((await store.paused()).includes(firstName(spec.was, job))) return;
    // Of runs that have not begun, one alone has a key: the one of the last time.
    if (run !== null) await addRuns(stores, plan, run, run.key === null ? times : times.slice(-1));
  });
}

/** What runs of a schedule are alike in; null, and a line in the log, if nothing can be run. */
function preparePlanned(
  spec: JobsSpec,
  service: ServiceAtWork,
  job: string,
  now: number,
): NewRun | null {
  const as = { kind: "service" } as const;
  try {
    return prepareRun(spec, service, { job, given: {}, tenant: defaultTenant, as, now });
  } catch (err) {
    // It would be so again at each look, so the schedule moves on to its next time.
    service.log.error({ err, job }, "a schedule has no run: its job doesn't take an empty input");
    return null;
  }
}

/**
 * The times for which there is a run, of those from the first that is due until now, and when the
 * schedule is due again: before now if there are more than one transaction adds.
 */
function timesOf(plan: JobPlan, first: number, now: number) {
  const next = nextTime(plan, now);
  if (plan.missed === "all") {
    const all = timesFrom(plan, first, now);
    const times = all.slice(0, plan.perTenant ? mostAtOnce : mostMissed);
    const last = times.at(-1);
    const isRest = last !== undefined && times.length < all.length;
    return { times, next: isRest ? nextTime(plan, last) : next };
  }
  const last = Math.max(first, lastTimes(plan, now, 1)[0] ?? first);
  const isMissed = plan.missed === "skip" && now - last > graceMillis;
  return { times: isMissed ? [] : [last], next };
}

/** The times of a plan from one of them until now: the last ones, if there are too many. */
function timesFrom(plan: JobPlan, first: number, now: number): readonly number[] {
  const pattern = patternOf(plan);
  const times: number[] = [];
  for (let time = first; time <= now; time = timeBehind(pattern, time)) {
    if (times.length === mostMissed) return lastTimes(plan, now, mostMissed);
    times.push(time);
  }
  return times;
}

/** The last so many times of a plan until now, in order. */
function lastTimes(plan: JobPlan, now: number, count: number): readonly number[] {
  // The time that is asked about is not among those before it, and milliseconds don't count.
  const before = patternOf(plan).previousRuns(count + 1, new Date(now + 1_000));
  const times = before.map((time) => time.getTime()).filter((time) => time <= now);
  return times.sort((one, other) => one - other).slice(-count);
}

function patternOf({ cron, timezone }: JobPlan): Cron {
  return new Cron(cron, {
    timezone,
    mode: "5-part",
    paused: true,
    // As cron has it: a time that is said without a wildcard or a step is done once a day.
    fixedTimeRule: "no-wildcard",
  });
}

/** Adds a run for each of these times, or for each time and active tenant. */
async function addRuns(
  stores: Transaction,
  { perTenant }: JobPlan,
  run: NewRun,
  times: readonly number[],
): Promise<void> {
  const runsOf = (tenant: string): readonly NewRun[] =>
    times.map((dueAt) => ({ ...run, id: uuidv7(), tenant, dueAt }));
  const store = stores.of(jobStore);
  if (!perTenant) {
    await store.addAll(runsOf(defaultTenant));
    return;
  }
  for (let after: string | undefined; ;) {
    const page = await stores.of(tenantStore).listTenants(after, pageSize);
    await store.addAll(page.flatMap(({ id, isActive }) => (isActive ? runsOf(id) : [])));
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}
