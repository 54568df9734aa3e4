// The jobs of a service as generated code declares them (service.md "Jobs").
import type { FirstNames } from "../../contract/former-names.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { RunLimit } from "../../ports/jobs.js";
import type { JobRun } from "./job-run.js";

/**
 * The author's function of a job. It runs outside a transaction, at least once: what must happen
 * once goes into steps of the run.
 */
export type JobHandler<Input> = (
  input: Input,
  context: ExecutionContext,
  run: JobRun,
) => Promise<void>;

/** When a job runs without being enqueued. */
export interface JobPlan {
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** A name of the IANA time zone database. */
  readonly timezone: string;
  /** Whether there is a run for each active tenant. */
  readonly perTenant: boolean;
  /** Which runs there are for times at which no process was there. */
  readonly missed: "once" | "skip" | "all";
}

/** One job, besides its function. */
export interface JobDeclaration {
  /** Cuts the input to its declared members. Throws if it is not as declared. */
  readonly input: (data: unknown, job: string) => unknown;
  /** Values of members that whoever enqueues it leaves out. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** After so many attempts a run has failed. */
  readonly attempts: number;
  /** How long an attempt may take. */
  readonly timeoutSeconds: number;
  /** Whose rights a run has: those of whoever has enqueued it, or the service's own. */
  readonly as: "caller" | "service";
  /** Members of the input: of runs that have not begun, one alone has the same values. */
  readonly unique?: readonly string[];
  readonly limit?: RunLimit;
  /** How long runs that are done are kept; they are removed at once if it is left out. */
  readonly keepSeconds?: number;
  readonly plan?: JobPlan;
}

/** The jobs of a service by their names, without their functions: what enqueuing them takes. */
export interface JobDeclarations {
  readonly jobs: Readonly<Record<string, JobDeclaration>>;
  /** What jobs were called first: their runs are stored under these names. */
  readonly was?: FirstNames;
}

/** The jobs of a service, with their functions. */
export interface JobsSpec extends JobDeclarations {
  // oxlint-disable-next-line typescript/no-explicit-any -- each is called with its own input only
  readonly handlers: Readonly<Record<string, JobHandler<any>>>;
}

/** Declares the jobs of a service. */
export function defineJobs(declarations: JobDeclarations): JobDeclarations {
  return declarations;
}

/** The input of a job as it is declared. Throws if it isn't. */
export function declaredInput({ input, defaults }: JobDeclaration, given: unknown, job: string) {
  const isObject = typeof given === "object" && given !== null;
  return input(isObject ? { ...defaults, ...given } : given, job);
}

/** Joins the jobs with their functions, each of which is held to its own input. */
export function joinHandlers<Inputs>(
  declarations: JobDeclarations,
  handlers: { readonly [Name in keyof Inputs & string]: JobHandler<Inputs[Name]> },
): JobsSpec {
  return { ...declarations, handlers };
}
