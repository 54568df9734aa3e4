// Schedules of jobs: when each is next due, and the runs that it adds, once among all processes
// (service.md "Jobs").
import { Cron } from "croner";
import { defaultTenant } from "../../contract/default-tenant.js";
import { firstName } from "../../contract/former-names.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore, type NewRun } from "../../ports/jobs.js";
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
  return patternOf(plan).nextRun(new Date(after))?.getTime() ?? never;
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

/** Begins the schedules that have not begun yet, from a time on. */
export async function beginSchedules(
  spec: JobsSpec,
  { database }: ServiceAtWork,
  from: number,
): Promise<void> {
  const plans = plansOf(spec);
  const begun = await database.reader.of(jobStore).schedules([...plans.keys()]);
  const known = new Set(begun.map(({ id }) => id));
  const others = [...plans].filter(([id]) => !known.has(id));
  if (others.length === 0) return;
  await database.write({ lifetime: Lifetime.within(storeMillis) }, async (stores) => {
    for (const [id, { plan }] of others)
      await stores.of(jobStore).beginSchedule({ id, nextAt: nextTime(plan, from) });
  });
}

/**
 * Adds the runs of schedules that are due. Whichever process moves a schedule on adds its runs, in
 * the same transaction, so that there is one for each time.
 */
export async function firePlans(
  spec: JobsSpec,
  service: ServiceAtWork,
  now: number,
): Promise<void> {
  const plans = plansOf(spec);
  await service.database.write({ lifetime: Lifetime.within(storeMillis) }, async (stores) => {
    const store = stores.of(jobStore);
    const paused = await store.paused();
    for (const due of await store.schedules([...plans.keys()])) {
      const planned = plans.get(due.id);
      if (planned === undefined || due.nextAt > now) continue;
      const { job, plan } = planned;
      const { times, next } = timesOf(plan, due.nextAt, now);
      if (!(await store.moveSchedule(due, next))) continue;
      if (paused.includes(firstName(spec.was, job))) continue;
      await addRuns(stores, service, { spec, job, times, now });
    }
  });
}

/**
 * The times for which there is a run, of those from the first that is due until now, and when the
 * schedule is due again: before now if there are more than one transaction adds.
 */
function timesOf(plan: JobPlan, first: number, now: number) {
  const next = nextTime(plan, now);
  if (plan.missed === "all") {
    const all = timesUntil(plan, now, mostMissed).filter((time) => time >= first);
    const times = all.slice(0, plan.perTenant ? mostAtOnce : mostMissed);
    const last = times.at(-1);
    const isRest = last !== undefined && times.length < all.length;
    return { times, next: isRest ? nextTime(plan, last) : next };
  }
  const last = Math.max(first, timesUntil(plan, now, 1)[0] ?? first);
  const isMissed = plan.missed === "skip" && now - last > graceMillis;
  return { times: isMissed ? [] : [last], next };
}

/** The last so many times of a plan until now, in order. */
function timesUntil(plan: JobPlan, now: number, count: number): readonly number[] {
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

interface DueRuns {
  readonly spec: JobsSpec;
  readonly job: string;
  readonly times: readonly number[];
  readonly now: number;
}

async function addRuns(
  stores: Transaction,
  service: ServiceAtWork,
  { spec, job, times, now }: DueRuns,
): Promise<void> {
  const declaration = spec.jobs[job];
  if (declaration?.plan === undefined) return;
  const as = { kind: "service" } as const;
  const { run } = prepareRun(spec, service, { job, given: {}, tenant: defaultTenant, as, now });
  const runOf = (tenant: string, dueAt: number): NewRun => ({
    ...run,
    id: uuidv7(),
    tenant,
    dueAt,
  });
  const store = stores.of(jobStore);
  if (!declaration.plan.perTenant) {
    await store.addAll(times.map((time) => runOf(defaultTenant, time)));
    return;
  }
  for (let after: string | undefined; ;) {
    const page = await stores.of(tenantStore).listTenants(after, pageSize);
    const active = page.filter(({ isActive }) => isActive);
    await store.addAll(active.flatMap(({ id }) => times.map((time) => runOf(id, time))));
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}
