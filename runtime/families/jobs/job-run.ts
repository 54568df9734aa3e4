// A run of a job as the author's function has it: steps whose results are kept, sleep, progress
// (service.md "Jobs").
import { createHash } from "node:crypto";
import { durationMillis, type Delay } from "../../contract/durations.js";
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import { ByteReply } from "../../operations/byte-reply.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { InputBinding } from "../../operations/input.js";
import { inputFaults } from "../../operations/input-faults.js";
import { invokeAs } from "../../operations/invoke-as.js";
import { outputValue } from "../../operations/json-text.js";
import type { Operation } from "../../operations/operation.js";
import { messageOf } from "../../operations/thrown.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore, type ClaimedRun } from "../../ports/jobs.js";
import { isStorable, later } from "./storable.js";
import { tracePart, passTraceOn } from "../../ports/tracer.js";

/** Its functions can be taken out: `async (input, context, { step, sleep }) => …`. */
export interface JobRun {
  readonly id: string;
  /** The number of this attempt, counted from 1. */
  readonly attempt: number;
  /** When it was to begin: of a scheduled run, the time of the schedule. */
  readonly plannedAt: Date;
  /**
   * Does something outside a transaction, such as a call of another service, and keeps its result,
   * which must be JSON: later attempts get that result and do not do it again. If the process dies
   * between the two, it is done again, so pass the run's id and the step's name on as a key. Names
   * are a run's own; each may be used once in an attempt. Steps come one after another, none within
   * another.
   */
  readonly step: <T>(name: string, work: (context: ExecutionContext) => Promise<T>) => Promise<T>;
  /**
   * As `step`, in one transaction that keeps the result as well: what it writes is committed once,
   * whatever happens.
   */
  readonly commit: <T>(name: string, work: (context: ExecutionContext) => Promise<T>) => Promise<T>;
  /**
   * Invokes an operation in its own transaction, on behalf of whoever the run is, with its guards
   * and hooks, and keeps its answer as `step` does. An operation that honours `Idempotency-Key`
   * gets one of the run and the step, so that it is done once. Rejects with the errors of the
   * operation.
   */
  readonly call: <Input, Result>(
    name: string,
    operation: Operation<Input, Result>,
    input: Input,
  ) => Promise<Result>;
  /**
   * Ends the attempt, and goes on in a later one, with the results of the steps before: no process
   * waits meanwhile. The name is that of a step.
   */
  readonly sleep: (name: string, duration: Delay) => Promise<void>;
  /** Notes how far the run is, for whoever looks at it: a share from 0 to 1, and a few words. */
  readonly progress: (share: number, text?: string) => Promise<void>;
  /** Ends the run as failed, however many attempts are left. */
  readonly giveUp: (reason: string) => never;
}

/** How the author's function has ended its attempt, besides returning and throwing. */
export interface RunStops {
  /** When it goes on, in epoch milliseconds, if it sleeps. */
  sleepsUntil: number | null;
  /** Why it has given up, if it has. */
  givenUp: { readonly reason: string } | null;
}

const longestName = 200;
const longestText = 500;

/** The steps of one attempt: which have been done, and which is under way. */
function attemptSteps(
  context: ExecutionContext,
  claimed: ClaimedRun,
  kept: ReadonlyMap<string, string>,
  stops: RunStops,
) {
  const used = new Set<string>();
  let current: string | null = null;

  /** Throws if a step with this name may not begin. */
  const checkStep = (name: string): void => {
    if (stops.sleepsUntil !== null) throw new Error("the run sleeps: nothing more may begin");
    if (stops.givenUp !== null) throw new Error("the run has given up: nothing more may begin");
    if (!isStorable(name, longestName))
      throw new TypeError(
        `the name of a step has 1 to ${longestName} characters, none of them NUL`,
      );
    if (used.size >= limits.maxJobSteps)
      throw new Error(
        `a run has at most ${limits.maxJobSteps} steps: enqueue another for the rest`,
      );
    if (used.has(name))
      throw new Error(
        `the step ${name} is there twice in one attempt: give each a name of its own`,
      );
    if (current !== null)
      throw new Error(
        `${name} begins while ${current} is under way: a run does one step at a time`,
      );
  };

  return {
    /**
     * The kept result of a step, or what `work` makes, which has kept it. One step at a time:
     * within another's transaction, or beside it, what a step has noted could be undone with it.
     */
    once: <T>(name: string, work: () => Promise<string>): Promise<T> =>
      context.call(`the step ${name}`, async () => {
        checkStep(name);
        used.add(name);
        current = name;
        try {
          return resultOf<T>(kept.get(name) ?? (await work()));
        } finally {
          current = null;
        }
      }),
    async keep(transaction: Transaction, name: string, text: string): Promise<void> {
      if (!(await transaction.of(jobStore).addStep(claimed, name, text))) throw lost(claimed);
    },
  };
}

/** Makes a run for the author's function, and what that says of its end. */
export function jobRun(
  context: ExecutionContext,
  claimed: ClaimedRun,
  kept: ReadonlyMap<string, string>,
): { readonly run: JobRun; readonly stops: RunStops } {
  const stops: RunStops = { sleepsUntil: null, givenUp: null };
  const { once, keep } = attemptSteps(context, claimed, kept, stops);
  const run: JobRun = {
    id: claimed.id,
    attempt: claimed.attempt,
    plannedAt: new Date(claimed.plannedAt),

    step: (name, work) =>
      once(name, async () => {
        const text = textOf(name, await work(context));
        await context.commit((transaction) => keep(transaction, name, text));
        return text;
      }),

    commit: (name, work) =>
      once(name, () =>
        context.commit(async (transaction) => {
          const text = textOf(name, await work(context));
          await keep(transaction, name, text);
          return text;
        }),
      ),

    call: (name, operation, input) =>
      once(name, async () => {
        const text = textOf(
          name,
          await callOperation(context, claimed, { name, operation, input }),
        );
        await context.commit((transaction) => keep(transaction, name, text));
        return text;
      }),

    async sleep(name, duration) {
      const until = await once<number>(name, async () => {
        const text = String(later(context.clock.now(), durationMillis(duration)));
        await context.commit((transaction) => keep(transaction, name, text));
        return text;
      });
      if (until <= context.clock.now()) return;
      stops.sleepsUntil = until;
      throw new Error("the run sleeps");
    },

    progress: (share, text) =>
      context.call("progress", async () => {
        if (!(share >= 0 && share <= 1)) throw new TypeError("progress is a share from 0 to 1");
        const noted = text === undefined ? { share } : { share, text: text.slice(0, longestText) };
        const isHeld = await context.commit((transaction) =>
          transaction.of(jobStore).setProgress(claimed, JSON.stringify(noted)),
        );
        if (!isHeld) throw lost(claimed);
      }),

    giveUp(reason) {
      // What an author's code gives may be anything.
      stops.givenUp = { reason: messageOf(reason) };
      throw new Error(stops.givenUp.reason);
    },
  };
  return { run, stops };
}

/** What is called, and in which step. */
interface OperationCall<Input, Result> {
  readonly name: string;
  readonly operation: Operation<Input, Result>;
  readonly input: Input;
}

async function callOperation<Input, Result>(
  context: ExecutionContext,
  { id, as }: ClaimedRun,
  { name, operation, input }: OperationCall<Input, Result>,
): Promise<unknown> {
  const { resources, tenant, identity, lifetime, metadata } = context;
  const by = {
    tenant,
    identity,
    isAnonymous: as.kind === "nobody",
    idempotencyKey: createHash("sha256").update(`${id} ${name}`).digest("hex"),
    deadlineSeconds: lifetime.remainingMillis / 1_000,
    isGone: () => context.signal.aborted,
    correlationId: metadata.correlationId,
    runId: id,
  };
  const read = (): Input => {
    const faults = inputFaults(operation.input as InputBinding<unknown>, input);
    if (faults !== null) throw fail("core.validation", { errors: faults });
    return input;
  };
  const { output } = await tracePart(context.trace, operation.operationId, "internal", (span) => {
    const trace = { ...passTraceOn(span?.traceparent ?? metadata.traceparent), span };
    return invokeAs(resources, operation, { ...by, trace }, read);
  });
  if (output instanceof ByteReply) {
    output.body?.destroy();
    throw new TypeError(`${operation.operationId} answers bytes, which no step keeps`);
  }
  return output === undefined ? undefined : outputValue(output);
}

/** What a step has returned, as later attempts get it: the first one gets the same. */
function resultOf<T>(text: string): T {
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

function textOf(step: string, value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "";
  } catch (cause) {
    throw new TypeError(`the result of the step ${step} is no JSON`, { cause });
  }
  if (text.length > limits.maxJobCharacters)
    throw new TypeError(
      `the result of the step ${step} has more than ${limits.maxJobCharacters} characters: keep it in a document or a file, and its id here`,
    );
  return text;
}

/** Another process has the run by now, or it was cancelled. */
function lost({ id }: ClaimedRun): Error {
  return new Error(`the run ${id} was cancelled, or another process has it`);
}
