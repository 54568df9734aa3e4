// Enqueuing a job in the transaction of the operation that causes it (service.md "Jobs").
import { durationMillis, type Delay } from "../../contract/durations.js";
import { storedNames } from "../../contract/former-names.js";
import type { ExecutionContext } from "../../operations/context.js";
import { callWithTurns } from "../../operations/held-calls.js";
import { jobStore, type RunsAs } from "../../ports/jobs.js";
import { keptUntil } from "./kept-for.js";
import { longestKey, storedKey } from "./keys.js";
import { prepareRun } from "./new-run.js";
import { checkedTime, isStorable, later } from "./storable.js";
import type { JobDeclarations } from "./spec.js";

/** When and how a run begins. */
export interface EnqueueOptions {
  /** How long it waits at least. */
  readonly delay?: Delay;
  /** When it begins at the earliest. */
  readonly at?: Date;
  /**
   * Up to 500 characters. A run of the job with this key that has not begun takes this input, time,
   * priority and rights instead of another run being added; `cancelJob` finds it.
   */
  readonly key?: string;
  /** From -1000 to 1000; 0 if left out. Higher ones of a tenant begin first. */
  readonly priority?: number;
}

/**
 * Enqueues a job, typed by its name, and returns the id of the run. It begins once the running
 * transaction has committed, and never if that is undone; outside a transaction, it is enqueued at
 * once. Rejects if the input is not as declared, and with a `TypeError` for options that are no
 * time, key or priority.
 */
export type Enqueue<Inputs> = <Name extends keyof Inputs & string>(
  context: ExecutionContext,
  job: Name,
  input: Inputs[Name],
  options?: EnqueueOptions,
) => Promise<string>;

/**
 * Ends the runs of a job with a key that have not ended, in the caller's tenant and in the running
 * transaction. A run that is under way ends at its next step. Returns whether there were any.
 */
export type CancelJob<Inputs> = (
  context: ExecutionContext,
  job: keyof Inputs & string,
  key: string,
) => Promise<boolean>;

/** Makes the function by which authors' code enqueues jobs, and which it has to await. */
export function makeEnqueue<Inputs>(declarations: JobDeclarations): Enqueue<Inputs> {
  return (context, job, input, options = {}) =>
    callWithTurns(context, "enqueue", () =>
      inTransaction(context, () => addRun(declarations, context, job, input, options)),
    );
}

/** Makes the function by which authors' code cancels jobs, and which it has to await. */
export function makeCancelJob<Inputs>(declarations: JobDeclarations): CancelJob<Inputs> {
  return (context, job, key) =>
    callWithTurns(context, "cancelJob", () =>
      inTransaction(context, async () => (await cancelRuns(declarations, context, job, key)) > 0),
    );
}

/**
 * Ends the runs of a job with a key that have not ended, but for the one that asks for it, which
 * ends by itself; returns how many.
 */
export function cancelRuns(
  { was }: JobDeclarations,
  context: ExecutionContext,
  job: string,
  key: string,
  tenant = context.tenant,
): Promise<number> {
  const now = context.clock.now();
  const except = context.metadata.runId;
  const where = { tenant, jobs: storedNames(was, [job]), key: storedKey(key), except };
  return context.transaction.of(jobStore).cancelByKey(where, now, keptUntil(now));
}

function inTransaction<T>(context: ExecutionContext, work: () => Promise<T>): Promise<T> {
  return context.holdsTransaction ? work() : context.commit(work);
}

/**
 * Adds a run in the running transaction, in the tenant of the context unless another is given.
 * Rejects as `Enqueue` does.
 */
export async function addRun(
  declarations: JobDeclarations,
  context: ExecutionContext,
  job: string,
  given: unknown,
  options: EnqueueOptions & { readonly tenant?: string },
): Promise<string> {
  const now = context.clock.now();
  const { dueAt, key, rank } = checkedOptions(options, now);
  const run = prepareRun(declarations, context.resources, {
    job,
    given,
    tenant: options.tenant ?? context.tenant,
    as: rightsOf(context),
    now,
    traceparent: context.metadata.traceparent,
  });
  const id = await context.transaction.of(jobStore).add({
    ...run,
    rank,
    key: key === undefined ? run.key : storedKey(key),
    dueAt,
  });
  context.follow(() => context.resources.wake(jobStore));
  return id;
}

/** Whose rights the run has: those of the invocation that enqueues it. */
function rightsOf({ identity, payer }: ExecutionContext): RunsAs {
  if (identity !== null)
    return {
      kind: "principal",
      principalId: identity.principalId,
      actorId: identity.actorId,
      scopes: identity.scopes ?? null,
    };
  return { kind: payer === null ? "service" : "nobody" };
}

const mostPriority = 1_000;

function checkedOptions({ delay, at, key, priority = 0 }: EnqueueOptions, now: number) {
  if (delay !== undefined && at !== undefined)
    throw new TypeError("a run has a delay or a time at which it begins, not both");
  const dueAt = at === undefined ? null : checkedTime(at.getTime());
  if (key !== undefined && !isStorable(key, longestKey))
    throw new TypeError(`the key of a run has 1 to ${longestKey} characters, none of them NUL`);
  if (!Number.isInteger(priority) || Math.abs(priority) > mostPriority)
    throw new TypeError(`a priority is a whole number from -${mostPriority} to ${mostPriority}`);
  return {
    dueAt: delay === undefined ? dueAt : later(now, durationMillis(delay)),
    key,
    // Ranks begin with the smallest one, and JSON would keep -0.
    rank: priority === 0 ? 0 : -priority,
  };
}
