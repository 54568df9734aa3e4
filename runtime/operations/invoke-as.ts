// Operations that are invoked without a request of HTTP, such as commands of realtime
// (architecture.md "Pipeline").
import type { BegunTrace } from "../ports/tracer.js";
import { uuidv7 } from "../ports/uuid.js";
import { Lifetime } from "../ports/lifetime.js";
import { ExecutionContext } from "./context.js";
import type { Outcome } from "./idempotency.js";
import type { Identity } from "./identity.js";
import type { InvocationMetadata } from "./invocation-facts.js";
import type { Operation } from "./operation.js";
import { invoke } from "./pipeline.js";
import type { Resources } from "./resources.js";
import { monotonicMillis } from "../ports/ambient.js";

/** On whose behalf an operation is invoked, and within what. */
export interface InvokedAs {
  /** The tenant whose data it sees. */
  readonly tenant: string;
  /** Whose rights it has, and whose share of the engines it takes; the service itself if null. */
  readonly identity: Identity | null;
  /** Has an effect only if the operation takes keys. */
  readonly idempotencyKey?: string | undefined;
  /** Seconds; the operation's own deadline if that is earlier, or if this is left out. */
  readonly deadlineSeconds?: number | undefined;
  /** Whether nobody waits for the outcome any more: then nothing is committed. */
  readonly isGone?: () => boolean;
  /** Whether an invocation without an identity is an anonymous caller's, not the service's. */
  readonly isAnonymous?: boolean;
  /** Ends it, in place of its deadline. */
  readonly lifetime?: Lifetime;
  /** The conversation that it belongs to; one of its own if left out. */
  readonly correlationId?: string;
  /** The run of a job that it is part of. */
  readonly runId?: string;
  /** What it is in a trace; nothing if left out. */
  readonly trace?: BegunTrace;
}

/** The ids of an invocation without a request. */
export function ownMetadata({
  correlationId,
  runId,
  trace,
}: Pick<InvokedAs, "correlationId" | "runId" | "trace"> = {}): InvocationMetadata {
  const requestId = uuidv7();
  return {
    requestId,
    correlationId: correlationId ?? requestId,
    causationId: requestId,
    traceparent: trace?.traceparent,
    ...(runId === undefined ? {} : { runId }),
  };
}

/**
 * Invokes an operation with its hooks, in a context of its own. `read` makes the input, and may
 * refuse it. Rejects with the error of the first step that throws, and with `deadline_exceeded`.
 */
export async function invokeAs<Input, Result>(
  resources: Resources,
  operation: Operation<Input, Result>,
  as: InvokedAs,
  read: (context: ExecutionContext) => Input,
): Promise<Outcome<Result>> {
  const planned = operation.deadlineSeconds ?? resources.deadlineSeconds;
  const seconds = Math.min(planned, as.deadlineSeconds ?? Infinity);
  const { isGone = () => false, isAnonymous = false } = as;
  const context = new ExecutionContext(resources, {
    operationId: operation.operationId,
    metadata: ownMetadata(as),
    trace: as.trace?.span ?? null,
    tenant: as.tenant,
    idempotencyKey: operation.idempotencyKey === true ? as.idempotencyKey : undefined,
    lifetime:
      as.lifetime ??
      Lifetime.until(monotonicMillis() + seconds * 1000, { isGone }, resources.clock),
    identity: as.identity,
    ...(isAnonymous ? { clientAddress: () => "" } : {}),
  });
  try {
    return await context.lifetime.race(invoke(operation, read(context), context));
  } finally {
    context.release();
  }
}
