// The command `jobs` of `node server.js`, for operators.
import { fail } from "../../contract/errors.js";
import { firstName, presentName, storedNames } from "../../contract/former-names.js";
import type { ServiceAtWork, ServiceCommand } from "../../operations/family.js";
import { countInBatches } from "../../operations/in-batches.js";
import { jobStore } from "../../ports/jobs.js";
import type { JobsSpec } from "./spec.js";

/** Failed runs that are printed. */
const mostListed = 100;
/** Failed runs that begin anew in one transaction. */
const batchSize = 1_000;

type Work = (service: ServiceAtWork) => Promise<string>;

/**
 * Says how many runs there are, lists those that failed, has them begin anew, and pauses a job or
 * lets it go on. Pausing ends nothing that runs, and holds in all processes until `resume`.
 */
export const jobsCommand = (spec: JobsSpec): ServiceCommand => ({
  name: "jobs",
  usage: "[failed [JOB] | retry [JOB] | pause JOB | resume JOB]",
  summary: "Say how many runs of jobs wait, run and have failed, and what is paused",
  read(args) {
    const [what, job] = args;
    if (args.length > 2) return null;
    if (what === undefined) return state(spec);
    if (job !== undefined && !Object.hasOwn(spec.jobs, job)) return refuseJob(spec, job);
    if (what === "failed")
      return listFailed(spec, job === undefined ? null : storedNames(spec.was, [job]));
    // No process of this version would begin another job's run, which ends as it was kept to.
    const known = storedNames(spec.was, job === undefined ? Object.keys(spec.jobs) : [job]);
    if (what === "retry") return (service) => retry(service, known);
    if (job === undefined || (what !== "pause" && what !== "resume")) return null;
    return (service) => pause(spec, service, job, what === "pause" ? service.clock.now() : null);
  },
});

const state =
  ({ was }: JobsSpec): Work =>
  async ({ clock, database }) => {
    const store = database.reader.of(jobStore);
    const { ready, scheduled, running, failed, lagMillis } = await store.state(clock.now());
    const paused = (await store.paused()).map((job) => presentName(was, job));
    return JSON.stringify({
      ready,
      scheduled,
      running,
      failed,
      lag_seconds: lagMillis / 1000,
      paused,
    });
  };

function refuseJob({ jobs }: JobsSpec, job: string): Work {
  const names = Object.keys(jobs).join(", ");
  const cause = new Error(`there is no job ${job}; there are ${names}`);
  return () => Promise.reject(fail("core.not_found", {}, { cause }));
}

function listFailed({ was }: JobsSpec, jobs: readonly string[] | null): Work {
  return async ({ database }) => {
    const found = await database.reader.of(jobStore).listFailed(jobs, mostListed);
    const runs = found.map(({ id, job, tenant, plannedAt, endedAt, attempts, error }) => ({
      id,
      job: presentName(was, job),
      tenant,
      planned_at: new Date(plannedAt).toISOString(),
      failed_at: endedAt === null ? null : new Date(endedAt).toISOString(),
      attempts,
      error,
    }));
    return JSON.stringify(runs, null, 2);
  };
}

async function retry({ clock, write }: ServiceAtWork, jobs: readonly string[]): Promise<string> {
  const retried = await countInBatches(batchSize, (size) =>
    write("jobs.retry", ({ transaction }) =>
      transaction.of(jobStore).retryFailed(jobs, clock.now(), size),
    ),
  );
  return String(retried);
}

async function pause(
  { was }: JobsSpec,
  { write }: ServiceAtWork,
  job: string,
  at: number | null,
): Promise<string> {
  await write("jobs.pause", ({ transaction }) =>
    transaction.of(jobStore).pause(firstName(was, job), at),
  );
  return `${job} ${at === null ? "goes on" : "is paused"}`;
}
