// The pipeline: the one order in which hooks, transaction and handler of an operation run (architecture.md "Pipeline").
import type { ServiceError } from "../contract/errors.js";
import { declaredError } from "../contract/own-errors.js";
import type { ExecutionContext } from "./context.js";
import { idempotencyScope, onceOnly, type Outcome } from "./idempotency.js";
import type { Output } from "./json-text.js";
import type { Handler, LookingHandler, Operation } from "./operation.js";
import { noPreconditions } from "./preconditions.js";
import { isPending } from "./pending.js";

/**
 * Invokes an operation, for a caller that races what is pending against its lifetime: before → wrap → transaction
 * (tx_before → handler → tx_after) → commit → after_commit → on_success, or on_failure; finally at the end. Fails with the
 * error of the first step that threw, or with `deadline_exceeded` at the deadline, after which nothing commits. A read without hooks whose handler does not wait has its
 * outcome at once.
 */
export function invoke<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Outcome<Result> | Promise<Outcome<Result>> {
  return operation.errors === undefined
    ? invoked(operation, input, context)
    : invokedAsDeclared(operation, input, context);
}

/** Invokes what may fail with errors of the registry, and answers with those that are declared for it. */
async function invokedAsDeclared<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  try {
    return await invoked(operation, input, context);
  } catch (error) {
    throw declaredError(operation, error);
  }
}

function invoked<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Outcome<Result> | Promise<Outcome<Result>> {
  if (!operation.chain.isEmpty) return invokeWithHooks(operation, input, context);
  const { run } = operation;
  if (operation.transaction === "write" || typeof run !== "function")
    return transact(operation, input, context);
  const output = run(input, context);
  return isPending(output) ? Promise.resolve(output).then(read) : read(output);
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
  } catch (error) {
    for (const hook of operation.chain.on_failure) {
      await quietly(operation, context, "on_failure", () => hook(input, context, error));
    }
    throw error;
  } finally {
    for (const hook of operation.chain.finally) {
      await quietly(operation, context, "finally", () => hook(input, context));
    }
  }
}

async function run<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  const hooks = operation.chain;
  for (const hook of hooks.before) await hook(input, context);

  let replayed = false;
  const core = async (given: Input): Promise<Output<Result>> => {
    const outcome = await transact(operation, given, context);
    replayed = outcome.replayed;
    if (!replayed) {
      for (const hook of hooks.after_commit) {
        await quietly(operation, context, "after_commit", () =>
          hook(given, context, outcome.output),
        );
      }
    }
    return outcome.output;
  };
  const wrapped = hooks.wrap.reduceRight<(given: Input) => Promise<Output<Result>>>(
    (next, hook) => async (given) => hook(given, context, next),
    core,
  );
  const output = await wrapped(input);
  for (const hook of hooks.on_success) {
    await quietly(operation, context, "on_success", () => hook(input, context, output));
  }
  return { output, replayed };
}

async function transact<Input, Result>(
  operation: Operation<Input, Result>,
  input: Input,
  context: ExecutionContext,
): Promise<Outcome<Result>> {
  const { run, chain } = operation;
  const looksFirst = typeof run !== "function" && chain.tx_before.length === 0;
  const ready = looksFirst ? await looked(run, input, context) : run;
  const handle = async (): Promise<Output<Result>> => {
    for (const hook of chain.tx_before) await hook(input, context);
    const work = typeof ready === "function" ? ready : await ready.look(input, context);
    const output = await work(input, context);
    for (const hook of chain.tx_after) await hook(input, context, output);
    return output;
  };
  if (operation.transaction === "read") return read(await handle());

  const scope = idempotencyScope(context, operation.idempotencyKey);
  const settled = await context.commit(
    async (): Promise<Outcome<Result> | { readonly failure: ServiceError }> =>
      scope === undefined
        ? read(await handle())
        : onceOnly(context, scope, argumentsOf(input, context), handle),
    scope,
  );
  // A failure that was stored under the key is thrown only now, after its record has committed.
  if ("failure" in settled) throw settled.failure;
  return settled;
}

/** What is left to do in the transaction. A repetition under a key gets its answer there, also where looking fails by now. */
async function looked<Input, Result>(
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

/** What tells a repetition under a key from another request: the input, and what it depends on. */
function argumentsOf(input: unknown, { preconditions }: ExecutionContext): unknown {
  return preconditions === noPreconditions ? input : { input, preconditions };
}

async function quietly<Input, Result>(
  operation: Operation<Input, Result>,
  context: ExecutionContext,
  phase: string,
  work: () => void | Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    context.log.error(
      {
        operation: operation.operationId,
        phase,
        requestId: context.metadata.requestId,
        err: error,
      },
      "a hook failed after the operation was decided",
    );
  }
}
