// A run of a job as it is put down, whoever causes it: a call, a schedule, or another family.
import { firstName } from "../../contract/former-names.js";
import { limits } from "../../contract/limits.js";
import type { Resources } from "../../operations/resources.js";
import type { NewRun, RunsAs } from "../../ports/jobs.js";
import { uuidv7 } from "../../ports/uuid.js";
import { uniqueKey } from "./keys.js";
import { declaredInput, type JobDeclarations } from "./spec.js";

/** What a run is of, and for whom. */
export interface RunRequest {
  readonly job: string;
  /** The input, which may leave out members that have defaults. */
  readonly given: unknown;
  readonly tenant: string;
  /** Whose rights it has, unless its job says that it has the service's. */
  readonly as: RunsAs;
  /** The present time in epoch milliseconds. */
  readonly now: number;
  /** Where what causes it is in a trace, as W3C `traceparent`. */
  readonly traceparent?: string | undefined;
}

/**
 * Prepares a run that begins at once. Throws if there is no such job, and a `TypeError` if its
 * input is not as declared or too long.
 */
export function prepareRun(
  { jobs, was }: JobDeclarations,
  { kept }: Pick<Resources, "kept">,
  { job, given, tenant, as, now, traceparent = undefined }: RunRequest,
): NewRun {
  const declaration = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
  if (declaration === undefined) throw new Error(`${job} is no job`);
  const input = declaredInput(declaration, given, job);
  const form = kept.inputs(job);
  return {
    id: uuidv7(),
    tenant,
    job: firstName(was, job),
    input: storedInput(job, form.stored(JSON.stringify(input))),
    shape: form.shape,
    as: declaration.as === "service" ? { kind: "service" } : as,
    rank: 0,
    key: uniqueKey(declaration.unique, input),
    dueAt: null,
    createdAt: now,
    maxAttempts: declaration.attempts,
    traceparent: traceparent ?? null,
  };
}

function storedInput(job: string, text: string): string {
  if (text.length <= limits.maxJobCharacters) return text;
  throw new TypeError(
    `the input of ${job} has more than ${limits.maxJobCharacters} characters: keep it in a document or a file, and enqueue its id`,
  );
}
