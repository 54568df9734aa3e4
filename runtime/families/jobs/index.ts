// The family of jobs: work that begins later than what causes it, or at set times.
import {
  askedOnce,
  familyOf,
  hourly,
  openedAs,
  type ServiceAtWork,
} from "../../operations/family.js";
import { readPiece } from "../../operations/read-piece.js";
import { gauge, type DeclaredMetrics } from "../../operations/metric.js";
import { tallies } from "../../operations/tally.js";
import { jobStore, type RunRecord } from "../../ports/jobs.js";
import { jobsCommand } from "./commands.js";
import { jobRunDetails } from "./operations.js";
import { jobResources } from "./resources.js";
import { plansOf } from "./schedules.js";
import { readJobSettings } from "./settings.js";
import type { JobsSpec } from "./spec.js";
import { startWorker } from "./worker.js";

/** A schedule of another version that nobody has moved on for so long has no process any more. */
const unmovedMillis = 24 * 60 * 60 * 1_000;
/** Rows that one batch removes. */
const batchSize = 1_000;
/** Runs that an export reads at once. */
const exportedAtOnce = 100;

export const jobsFamily = familyOf<JobsSpec>()({
  member: "jobs",
  settings: readJobSettings,
  open: async (spec) => [openedAs(jobResources, spec)],
  jobs: (spec, { clock }) => [
    hourly("jobs.old", (transaction) => transaction.of(jobStore).prune(clock.now(), batchSize)),
    hourly("jobs.schedules", async (transaction) => {
      const before = clock.now() - unmovedMillis;
      await transaction.of(jobStore).endSchedules(before, [...plansOf(spec).keys()]);
      return false;
    }),
  ],
  commands: (spec) => [jobsCommand(spec)],
  metrics: (_spec, service) => metricsOf(service),
  erased: async (_spec, context, { principalId }) => ({
    job_runs: await context.transact((transaction) =>
      transaction.of(jobStore).removeOf(principalId),
    ),
  }),
  async *exported(spec, context, { principalId }) {
    for (let after: string | null = null; ;) {
      const store = readPiece(context).of(jobStore);
      const runs: readonly RunRecord[] = await store.listOf(principalId, after, exportedAtOnce);
      for (const run of runs)
        yield {
          kind: "job_run",
          tenant_id: run.tenant,
          data: jobRunDetails(spec, context, run),
        };
      after = runs.at(-1)?.id ?? null;
      if (runs.length < exportedAtOnce) return;
    }
  },
  start: (spec, service, settings) => startWorker(spec, service, settings),
});

function metricsOf(service: ServiceAtWork): DeclaredMetrics {
  const { clock, database } = service;
  const state = askedOnce(() => database.reader.of(jobStore).state(clock.now()));
  return {
    jobs_ready: gauge("Runs of jobs that wait for room.", async () => (await state()).ready),
    jobs_scheduled: gauge("Runs that wait for their time.", async () => (await state()).scheduled),
    jobs_running: gauge("Runs under way.", async () => (await state()).running),
    jobs_dead: gauge("Runs that have failed and are kept.", async () => (await state()).failed),
    jobs_lag_seconds: gauge(
      "How long the oldest ready run has waited.",
      async () => (await state()).lagMillis / 1000,
    ),
    ...tallies(service, {
      jobs_done: "Runs that are done.",
      jobs_failed: "Attempts that failed.",
      jobs_given_up: "Runs that have failed.",
    }),
  };
}
