// The family of jobs: work that begins later than what causes it, or at set times.
import {
  askedOnce,
  familyOf,
  hourly,
  openedAs,
  type ServiceAtWork,
} from "../../operations/family.js";
import { gauge, type DeclaredMetrics } from "../../operations/metric.js";
import { tallies } from "../../operations/tally.js";
import { jobStore } from "../../ports/jobs.js";
import { jobsCommand } from "./commands.js";
import { jobResources } from "./resources.js";
import { readJobSettings } from "./settings.js";
import type { JobsSpec } from "./spec.js";
import { startWorker } from "./worker.js";

/** Rows that one batch removes. */
const batchSize = 1_000;

export const jobsFamily = familyOf<JobsSpec>()({
  member: "jobs",
  settings: readJobSettings,
  open: async (spec) => [openedAs(jobResources, spec)],
  jobs: (_spec, { clock }) => [
    hourly("jobs.old", (transaction) => transaction.of(jobStore).prune(clock.now(), batchSize)),
  ],
  commands: (spec) => [jobsCommand(spec)],
  metrics: (_spec, service) => metricsOf(service),
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
