// Schedules of jobs: when each is next due, and the runs that it adds, once among all processes
// (service.md "Jobs").
import { Cron } from "croner";
import { firstName } from "../../contract/former-names.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore, type JobSchedule, type NewRun } from "../../ports/jobs.js";
import { tenantStore } from "../../ports/tenants.js";
import { uuidv7 } from "../../ports/uuid.js";
import { storeMillis } from "../../work/queue.js";
import type { JobDeclaration, JobPlan, JobsSpec } from "./spec.js";

/** A time that is missed by more than this was missed. */
const graceMillis = 60_000;
/** Missed times that are made up for at most. */
const mostMissed = 1_000;
/** Tenants that are read, and runs that are added, at once. */
const pageSize = 1_000;
/** A schedule whose pattern has no time any more, such as one for 31 February, is never due. */
const never = 8_640_000_000_000_000;

/** The first time of a plan behind another one, in epoch milliseconds. */
export function nextTime(plan: JobPlan, after: number): number {
  return patternOf(plan).nextRun(new Date(after))?.getTime() ?? never;
}

/** What the next time is computed from: a schedule that was computed otherwise begins anew. */
function ruleOf({ cron, timezone }: JobPlan): string {
  return `${cron} ${timezone}`;
}

/**
 * Begins the schedules of jobs that have none yet, from a time on, and ends those of jobs without a
 * plan.
 */
export async function beginSchedules(
  spec: JobsSpec,
  { database }: ServiceAtWork,
  from: number,
): Promise<void> {
  const known = new Map(
    (await database.reader.of(jobStore).schedules()).map((one) => [one.job, one]),
  );
  const isStale = ([job, { plan }]: readonly [string, JobDeclaration]): boolean =>
    known.get(job)?.rule !== (plan === undefined ? undefined : ruleOf(plan));
  const stale = Object.entries(spec.jobs).filter(isStale);
  if (stale.length === 0) return;
  await database.write({ lifetime: Lifetime.within(storeMillis) }, async (stores) => {
    const store = stores.of(jobStore);
    for (const [job, { plan }] of stale) {
      const was = known.get(job);
      if (plan === undefined) {
        await store.endSchedule(job);
        continue;
      }
      const is = { job, nextAt: nextTime(plan, from), rule: ruleOf(plan) };
      if (was === undefined) await store.beginSchedule(is);
      else await store.moveSchedule(was, is);
    }
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
  await service.database.write({ lifetime: Lifetime.within(storeMillis) }, async (stores) => {
    const store = stores.of(jobStore);
    const paused = await store.paused();
    for (const due of await store.schedules()) {
      const plan = spec.jobs[due.job]?.plan;
      if (plan === undefined || due.nextAt > now) continue;
      const to = { nextAt: nextTime(plan, now), rule: ruleOf(plan) };
      if (!(await store.moveSchedule(due, to)) || paused.includes(due.job)) continue;
      await addRuns(stores, service, { spec, due, times: timesOf(plan, due.nextAt, now), now });
    }
  });
}

/** The times for which there is a run, of those from the first that is due until now. */
function timesOf(plan: JobPlan, first: number, now: number): readonly number[] {
  if (plan.missed === "all") {
    const times: number[] = [];
    for (let time = first; time <= now && times.length < mostMissed; time = nextTime(plan, time))
      times.push(time);
    return times;
  }
  const last = Math.max(first, lastTime(plan, now) ?? first);
  return plan.missed === "skip" && now - last > graceMillis ? [] : [last];
}

/** The last time of a plan until now. */
function lastTime(plan: JobPlan, now: number): number | undefined {
  // Times are whole seconds, and the one to begin from is not among those before it.
  return patternOf(plan)
    .previousRuns(1, new Date(now + 1_000))[0]
    ?.getTime();
}

function patternOf({ cron, timezone }: JobPlan): Cron {
  return new Cron(cron, { timezone, mode: "5-part", paused: true });
}

interface DueRuns {
  readonly spec: JobsSpec;
  readonly due: JobSchedule;
  readonly times: readonly number[];
  readonly now: number;
}

async function addRuns(
  stores: Transaction,
  service: ServiceAtWork,
  { spec, due: { job }, times, now }: DueRuns,
): Promise<void> {
  const declaration = spec.jobs[job];
  if (declaration?.plan === undefined) return;
  const form = service.kept.inputs(job);
  const input = form.stored(JSON.stringify(declaration.input({}, job)));
  const runOf = (tenant: string, time: number): NewRun => ({
    id: uuidv7(),
    tenant,
    job: firstName(spec.was, job),
    input,
    shape: form.shape,
    as: { kind: "service" },
    rank: 0,
    key: null,
    dueAt: time,
    createdAt: now,
    maxAttempts: declaration.attempts,
  });
  const store = stores.of(jobStore);
  if (!declaration.plan.perTenant) {
    const { tenant } = service.context("jobs.schedule");
    await store.addAll(times.map((time) => runOf(tenant, time)));
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
