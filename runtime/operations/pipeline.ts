// The pipeline: the one order in which hooks, transaction and handler of an operation run
// (architecture.md "Pipeline").
import { runTraced } from "./authored.js";
import { runStep } from "./held-calls.js";
import { isConflict, type ServiceError } from "../contract/errors.js";
import { sleep } from "../ports/ambient.js";
import { waitMillis, type Backoff } from "../work/backoff.js";
import type { ExecutionContext } from "./context.js";
import { expectFit } from "./expect-fit.js";
import { giveError } from "./given-errors.js";
import { expectWhole } from "./identity.js";
import { idempotencyScope, onceOnly, type Outcome } from "./idempotency.js";
import { inputFaults } from "./input-faults.js";
import type { Output } from "./json-text.js";
import type { Handler, LookingHandler, Operation } from "./operation.js";
import { plainOf, recordCall, toldOf } from "./recorded.js";
import { isPending } from "../work/pending.js";
import { quietly } from "./quietly.js";
import { pointIntoInput } from "./refused-write.js";

/**
 * Invokes an operation, for a caller that races what is pending against its lifetime: before → wrap
 * → transaction (tx_before → handler → tx_after) → commit → after_commit → on_success, or
 * on_failure; finally at the end. Fails with the error of the first step that threw, or with
 * `deadline_exceeded` at the deadline, after which nothing commits. A read without hooks whose
 * handler does not wait has its outcome at once. What a handler or a hook has called and not
 * awaited when it returns fails the step.
 */
export function invoke<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Outcome<Result> | Promise<Outcome<Result>> {
  return operation.errors === undefined
    ? invokeHandler(operation, input, context)
    : invokedAsDeclared(operation, input, context);
}

/**
 * Invokes what may fail with errors of the registry, and answers with those that are declared for
 * it.
 */
async function invokedAsDeclared<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  try {
    return await invokeHandler(operation, input, context);
  } catch (error) {
    throw context.declared(error);
  }
}

function invokeHandler<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Outcome<Result> | Promise<Outcome<Result>> {
  context.begin(operation);
  if (!operation.chain.isEmpty) return invokeWithHooks(operation, input, context);
  const { run } = operation;
  if (operation.transaction === "write" || typeof run !== "function")
    return transactOnly(operation, input, context);
  const ended = (output: Output<Result>): Outcome<Result> => {
    context.end();
    context.expectAwaited(run);
    return read(output);
  };
  const failed = (error: unknown): never => {
    context.end();
    throw pointIntoInput(error, input);
  };
  // Most handlers give no work, and have their outcome at once.
  const whenHeld = <T>(then: () => T): T | Promise<T> => context.heldAfter()?.then(then) ?? then();
  let output: Output<Result> | Promise<Output<Result>>;
  try {
    output = runTraced(context.trace, run, () => run(input, context));
  } catch (error) {
    return whenHeld(() => failed(error));
  }
  if (!isPending(output)) {
    const made = output;
    return whenHeld(() => ended(made));
  }
  return Promise.resolve(output).then(
    (made) => whenHeld(() => ended(made)),
    (error: unknown) => whenHeld(() => failed(error)),
  );
}

async function transactOnly<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  try {
    return await transact(operation, input, context);
  } finally {
    context.end();
  }
}

/** The outcome of an operation that stores nothing, under a key or otherwise. */
function read<Result>(output: Output<Result>): Outcome<Result> {
  return { output, replayed: false };
}

async function invokeWithHooks<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  try {
    // `on_failure` hooks run at the deadline, not only when the handler notices it.
    return await context.lifetime.race(run(operation, input, context));
  } catch (thrown) {
    const error = pointIntoInput(context.abandonCalls(giveError(thrown)), input);
    for (const hook of operation.chain.on_failure) {
      await quietly(context, "on_failure", hook, () => hook(input, context, error));
    }
    throw error;
  } finally {
    for (const hook of operation.chain.finally) {
      await quietly(context, "finally", hook, () => hook(input, context));
    }
    context.end();
  }
}

async function run<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  const hooks = operation.chain;
  if (hooks.isForWhole) expectWhole(context);
  for (const hook of hooks.before) {
    await runStep(context, hook, () => hook(input, context));
  }

  let replayed = false;
  let isCommitted = false;
  const core = async (given: Input): Promise<Output<Result>> => {
    if (hooks.wrap.length > 0)
      expectFit(operation.operationId, () => inputFaults(operation.input, given));
    const outcome = await transact(operation, given, context).catch(refuse);
    replayed = outcome.replayed;
    isCommitted = operation.transaction === "write";
    if (!replayed) {
      for (const hook of hooks.after_commit) {
        await quietly(context, "after_commit", hook, () => hook(given, context, outcome.output));
      }
    }
    return outcome.output;
  };
  const wrapped = hooks.wrap.reduceRight<(given: Input) => Promise<Output<Result>>>(
    (next, hook) => async (given) => {
      const first = context.calls.count;
      const inner = watchNext(next, context, hook);
      try {
        const output = await runTraced(context.trace, hook, () => hook(given, context, inner.next));
        if (inner.isUnderWay()) throw inner.leave();
        await context.heldAfter(first);
        const check = (): void => context.expectAwaited(hook, first);
        // Calls that it forgets can't undo a commit.
        if (isCommitted) await quietly(context, "wrap", { name: hook.name }, check);
        else check();
        return output;
      } catch (error) {
        if (inner.isUnderWay()) inner.leave();
        // Calls that were left behind are undone before anybody is told of the failure.
        await inner.settled();
        throw error;
      }
    },
    core,
  );
  const output = await wrapped(input);
  for (const hook of hooks.on_success) {
    await quietly(context, "on_success", hook, () => hook(input, context, output));
  }
  return { output, replayed };
}

/** The `next` of a `wrap` hook, and whether its work still runs. */
function watchNext<Input, Result>(
  next: (given: Input) => Promise<Result>,
  { calls, operationId }: ExecutionContext,
  { name }: { readonly name: string },
) {
  const running = new Set<Promise<Result>>();
  return {
    next(given: Input): Promise<Result> {
      const begun = next(given);
      running.add(begun);
      const ended = (): void => void running.delete(begun);
      begun.then(ended, ended);
      return begun;
    },
    isUnderWay: () => running.size > 0,
    /** What still runs fails at its end. Returns the error to tell. */
    leave: (): ServiceError =>
      calls.fault(`${name} of ${operationId} returned without waiting for next`),
    async settled(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}

/** Fails for a `wrap` hook, which may keep the error. */
function refuse(error: unknown): never {
  throw giveError(error);
}

async function transact<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  const { run, chain } = operation;
  const looksFirst = typeof run !== "function" && chain.tx_before.length === 0;
  const ready = looksFirst ? await runLookPhase(run, input, context) : run;
  const handle = async (): Promise<Output<Result>> => {
    try {
      for (const hook of chain.tx_before) {
        await runStep(context, hook, () => hook(input, context));
      }
      const work = typeof ready === "function" ? ready : await ready.look(input, context);
      const output = await runStep(context, work, () => work(input, context));
      for (const hook of chain.tx_after) {
        await runStep(context, hook, () => hook(input, context, output));
      }
      return output;
    } catch (error) {
      throw pointIntoInput(context.abandonCalls(error), input);
    } finally {
      context.admitCalls(false);
    }
  };
  try {
    return await settledOutcome(operation, input, context, handle);
  } finally {
    context.admitCalls(true);
  }
}

/**
 * The outcome of what an operation does: in its transaction, and once per idempotency key, where it
 * has those.
 */
async function settledOutcome<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
  handle: () => Promise<Output<Result>>,
): Promise<Outcome<Result>> {
  if (operation.transaction === "read") return read(await handle());

  const done = async (): Promise<Output<Result>> => {
    const { recorded } = context.ending;
    const before = recorded.length;
    const output = await handle();
    // What it has told itself says more.
    const isTold = (): boolean => recorded.slice(before).some(({ change }) => change === "call");
    if (operation.audit !== undefined && !isTold())
      recordCall(context, plainOf(toldOf(operation.audit, input)));
    return output;
  };
  context.lifetime.expectOutcome();
  const scope = idempotencyScope(context, operation.idempotencyKey);
  const settled = await retryConflicts(operation, context, () =>
    context.transact(
      async (): Promise<Outcome<Result> | { readonly failure: ServiceError }> =>
        scope === undefined ? read(await done()) : onceOnly(context, scope, input, done),
      scope,
      operation.isolation === undefined ? undefined : `serializable ${context.tenant}`,
    ),
  );
  // A failure that was stored under the key is thrown only now, after its record has committed.
  if ("failure" in settled) throw settled.failure;
  return settled;
}

const betweenTries: Backoff = { firstMillis: 50, longestMillis: 800, leastShare: 0.1 };

/**
 * Runs a transaction, and again if others came first, as often as the operation says: after 5 to
 * 50 ms, and longer each time. Within a transaction of another's, that one is to be tried again.
 */
async function retryConflicts<T>(
  { retries = 0 }: Pick<Operation<never, never>, "retries">,
  context: ExecutionContext,
  transaction: () => Promise<T>,
): Promise<T> {
  const isAlone = !context.holdsTransaction;
  for (let tried = 0; ; tried += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isAlone || tried >= retries || !isConflict(error)) throw error;
      await sleep(waitMillis(betweenTries, tried + 1));
      context.lifetime.throwIfOver();
      context.admitCalls(true);
    }
  }
}

/**
 * What is left to do in the transaction. A repetition under a key gets its answer there, also where
 * looking fails by now.
 */
async function runLookPhase<Input, Result>(
  handler: LookingHandler<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Handler<Input, Result>> {
  try {
    return await handler.look(input, context);
  } catch (error) {
    return () => Promise.reject(error);
  }
}
