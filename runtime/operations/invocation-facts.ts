// The facts of an invocation, its bounds, and the events that it stages.
import type { Lifetime } from "../ports/lifetime.js";
import type { TraceSpan } from "../ports/tracer.js";
import type { Identity } from "./identity.js";
import type { Preconditions } from "./preconditions.js";
import type { ReplyDeclaration } from "./reply-declaration.js";

/** Identifiers of one invocation (decisions.md "Idempotency, deadlines, metadata"). */
export interface InvocationMetadata {
  /** Ours, fresh for each request. */
  readonly requestId: string;
  /** The caller's UUID if it sent a well-formed one, else fresh. */
  readonly correlationId: string;
  readonly causationId: string;
  /**
   * What to send to others who continue the trace, as W3C `traceparent`: of the invocation's own
   * span, or what the caller has sent if nothing is traced here.
   */
  readonly traceparent: string | undefined;
  /** The run of a job that it is part of; absent if it is part of none. */
  readonly runId?: string;
}

/** How much a read of many documents may take; null is without bound (service.md "Limits"). */
export interface ReadLimits {
  /** Documents that a read without a size returns. */
  readonly documents: number | null;
  /** The highest page number that lists scan for. */
  readonly pages: number | null;
}

/** What one query may cost, by who asks, in the units of `query-cost.ts`; null is without bound. */
export interface QueryBudgets {
  readonly callers: number | null;
  readonly anonymous: number | null;
}

/** Who has left a tenant, or with null all of them: who was deactivated. */
export interface Departed {
  readonly principalId: string;
  readonly tenant: string | null;
}

/** An integration event as it is staged. */
export interface StagedEvent {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Sealed, and bound to the id. */
  readonly payload: string;
  /** The shape in which it is kept (operations/kept-values.ts). */
  readonly shape: string | null;
  /** Where what stages it is in a trace, as W3C `traceparent`; null if it is in none. */
  readonly traceparent: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The arguments of an invocation; its context explains each. */
export interface InvocationFields {
  readonly operationId: string;
  readonly metadata: InvocationMetadata;
  readonly tenant: string;
  readonly idempotencyKey?: string | undefined;
  readonly lifetime: Lifetime;
  readonly clientAddress?: () => string;
  readonly preconditions?: Preconditions;
  readonly identity?: Identity | null;
  readonly requestHeader?: (name: string) => string | undefined;
  readonly replies?: ReplyDeclaration | undefined;
  readonly trace?: TraceSpan | null;
}
