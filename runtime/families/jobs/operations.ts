// The operations by which people look at runs of jobs in their tenant, and steer them.
import { fail } from "../../contract/errors.js";
import { presentName, storedNames } from "../../contract/former-names.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { jobStore, type RunRecord, type RunState } from "../../ports/jobs.js";
import { givenKey } from "./keys.js";
import { keptUntil } from "./kept-for.js";
import type { JobDeclarations } from "./spec.js";

/** Runs of one answer. */
const pageSize = 100;

/** A run as operations answer with it. */
export interface JobRunEntry {
  readonly id: string;
  readonly job: string;
  readonly state: RunState;
  readonly key: string | null;
  readonly attempts: number;
  readonly progress: { readonly share: number; readonly text?: string } | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly planned_at: string;
  readonly next_attempt_at: string | null;
  readonly ended_at: string | null;
}

/** A run with its input. */
export interface JobRunDetails extends JobRunEntry {
  readonly input: unknown;
}

interface ById {
  readonly id: string;
}

/** Handlers of runs. Callers see and steer those of their tenant. */
export const jobRuns = {
  /** The newest first; `before` is the last one of the page before. */
  list:
    (
      spec: JobDeclarations,
    ): Handler<
      { readonly job?: string; readonly state?: string; readonly before?: string },
      { readonly runs: readonly JobRunEntry[]; readonly has_more: boolean }
    > =>
    async ({ job, state, before }, context) => {
      const runs = await context.transaction.of(jobStore).list({
        tenant: context.tenant,
        jobs: job === undefined ? null : storedNames(spec.was, [job]),
        // The input is checked against the states.
        state: (state as RunState | undefined) ?? null,
        before: before ?? null,
        limit: pageSize + 1,
      });
      return {
        runs: runs.slice(0, pageSize).map((run) => jobRunEntry(spec, run)),
        has_more: runs.length > pageSize,
      };
    },

  /** With its input. Throws `core.not_found`, as all of the following, for one that isn't there. */
  get:
    (spec: JobDeclarations): Handler<ById, JobRunDetails> =>
    async ({ id }, context) => {
      const run = await context.transaction.of(jobStore).find(context.tenant, id);
      if (run === null) throw fail("core.not_found");
      return jobRunDetails(spec, context, run);
    },

  /**
   * Ends a run that has not ended, and throws `job_run_state` for one that has. One that is under
   * way ends at its next step.
   */
  cancel:
    (): Handler<ById, void> =>
    async ({ id }, context) => {
      const now = context.clock.now();
      const store = context.transaction.of(jobStore);
      if (!(await store.cancel(context.tenant, id, now, keptUntil(now))))
        await refuseState(context, id);
    },

  /**
   * Has a run that has failed or was cancelled begin anew, with the results of its steps. Throws
   * `job_run_state` for others.
   */
  retry:
    (): Handler<ById, void> =>
    async ({ id }, context) => {
      const store = context.transaction.of(jobStore);
      if (!(await store.retry(context.tenant, id, context.clock.now())))
        await refuseState(context, id);
      wakeAfterwards(context);
    },
};

/** Throws `job_run_state` for a run that is there, `core.not_found` otherwise. */
async function refuseState(context: ExecutionContext, id: string): Promise<never> {
  const run = await context.transaction.of(jobStore).find(context.tenant, id);
  throw run === null ? fail("core.not_found") : fail("job_run_state", { state: run.state });
}

function wakeAfterwards(context: ExecutionContext): void {
  context.follow(() => context.resources.wake(jobStore));
}

/** A run with its input, as it is told. */
export function jobRunDetails(
  spec: JobDeclarations,
  { resources }: ExecutionContext,
  run: RunRecord,
): JobRunDetails {
  const entry = jobRunEntry(spec, run);
  const input: unknown = JSON.parse(resources.kept.inputs(entry.job).told(run.input, run.shape));
  return { ...entry, input };
}

/** A run as it is told. */
function jobRunEntry({ was }: JobDeclarations, run: RunRecord): JobRunEntry {
  const { id, job, state, key, attempts, progress, error, createdAt, plannedAt } = run;
  return {
    id,
    job: presentName(was, job),
    state,
    key: givenKey(key),
    attempts,
    progress: progress === null ? null : (JSON.parse(progress) as JobRunEntry["progress"]),
    error,
    created_at: timeOf(createdAt),
    planned_at: timeOf(plannedAt),
    next_attempt_at: timeOrNull(run.dueAt),
    ended_at: timeOrNull(run.endedAt),
  };
}

function timeOf(millis: number): string {
  return new Date(millis).toISOString();
}

function timeOrNull(millis: number | null): string | null {
  return millis === null ? null : timeOf(millis);
}
