// Runs of jobs, as a test looks at them and waits for them.
import { jobStore, type RunState } from "../ports/jobs.js";
import { defaultTenant } from "../contract/default-tenant.js";
import { presentName, storedNames } from "../contract/former-names.js";
import { sleep } from "../ports/ambient.js";
import { givenKey } from "../families/jobs/keys.js";
import { plansOf } from "../families/jobs/schedules.js";
import type { JobsSpec } from "../families/jobs/spec.js";
import type { RunningService } from "../server/start.js";

/** A run of a job, as a test sees it. */
export interface TestedRun {
  readonly id: string;
  readonly job: string;
  readonly state: RunState;
  readonly input: unknown;
  readonly attempts: number;
  readonly plannedAt: Date;
  readonly error: string | null;
  readonly key: string | null;
  /** How far it is, as the job says: `{share, text}`. */
  readonly progress: unknown;
}

/** The jobs of a service under test. */
export interface TestedJobs {
  /**
   * Resolves once no run is ready, due by the test's clock, or under way: what waits for a later
   * time waits on. Rejects after ten seconds, with what is left.
   */
  done(): Promise<void>;
  /**
   * Runs in a tenant, the newest first, up to 1 000: of one job, or of all. `tenant` is its name
   * in the test, `test` if left out, or null for runs outside all tenants. Runs that are done are
   * there if their job says `keep`. Rejects for a job that is none.
   */
  list(job?: string, tenant?: string | null): Promise<readonly TestedRun[]>;
}

const patienceMillis = 10_000;
const pauseMillis = 5;
const mostListed = 1_000;

/** Looks at the jobs of a running service. `tenantId` is the id of a tenant by its name. */
export function testedJobs(
  spec: JobsSpec | undefined,
  { connection }: Pick<RunningService, "connection">,
  tenantId: (name: string) => Promise<string>,
): TestedJobs {
  const readSpec = (): JobsSpec => {
    if (spec === undefined) throw new Error("the service declares no `jobs`");
    return spec;
  };
  const { clock, database } = connection;
  const isAnyLeft = async (schedules: readonly string[]): Promise<boolean> => {
    const store = database.reader.of(jobStore);
    const { isReady, isDue, isPlanned } = await store.work(schedules, clock.now());
    return isReady || isDue || isPlanned || (await store.state(clock.now())).running > 0;
  };
  return {
    async done() {
      const schedules = [...plansOf(readSpec()).keys()];
      for (let waited = 0; await isAnyLeft(schedules); waited += pauseMillis) {
        if (waited >= patienceMillis) {
          const state = await database.reader.of(jobStore).state(clock.now());
          throw new Error(`jobs are not done after 10 s: ${JSON.stringify(state)}`);
        }
        connection.wake(jobStore);
        await sleep(pauseMillis);
      }
    },
    async list(job, tenant = "test") {
      const { was, jobs } = readSpec();
      if (job !== undefined && !Object.hasOwn(jobs, job)) throw new Error(`${job} is no job`);
      const runs = await database.reader.of(jobStore).list({
        tenant: tenant === null ? defaultTenant : await tenantId(tenant),
        jobs: job === undefined ? null : storedNames(was, [job]),
        state: null,
        before: null,
        limit: mostListed,
      });
      return runs.map((run) => {
        const name = presentName(was, run.job);
        return {
          id: run.id,
          job: name,
          state: run.state,
          input: JSON.parse(connection.kept.inputs(name).told(run.input, run.shape)) as unknown,
          attempts: run.attempts,
          plannedAt: new Date(run.plannedAt),
          error: run.error,
          key: givenKey(run.key),
          progress: run.progress === null ? null : (JSON.parse(run.progress) as unknown),
        };
      });
    },
  };
}
