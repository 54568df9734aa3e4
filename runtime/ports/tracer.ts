// The port of traces: what a piece of work takes, and which other work it belongs to, in other
// processes as well (W3C Trace Context; OpenTelemetry's semantic conventions).
import { knownError } from "../contract/errors.js";

/** What a span is to the others of its trace (OpenTelemetry, "SpanKind"). */
export type SpanKind = "server" | "client" | "producer" | "consumer" | "internal";

/**
 * Facts about a span by the names of OpenTelemetry's semantic conventions. None of them is what a
 * caller has sent: traces are kept elsewhere, and by others.
 */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace that is recorded. None of its methods throws. */
export interface TraceSpan {
  /** What others are told who continue the trace: W3C `traceparent` (Trace Context §3.2). */
  readonly traceparent: string;
  /** Begins a part of this work. */
  begin(name: string, kind: SpanKind, attributes?: Attributes): TraceSpan;
  note(attributes: Attributes): void;
  /** The work has failed; `type` is a code, or another name that few failures share. */
  fail(type: string): void;
  /** The work is over. */
  end(): void;
  /** Runs work in which libraries that trace by themselves find this span. */
  within<T>(work: () => T): T;
}

/** From where a trace comes to this process. */
export interface TraceOrigin {
  /** W3C `traceparent`; a trace begins here if undefined. */
  readonly traceparent: string | undefined;
  /** W3C `tracestate`, for whoever decides which traces are recorded. */
  readonly tracestate?: string | undefined;
  /** Whether a span that another library has begun for the same request is its parent. */
  readonly joinsOthers?: boolean;
}

/** A trace as this process goes on with it. */
export interface BegunTrace {
  /** What others are told who go on with it; undefined if it is in no trace. */
  readonly traceparent: string | undefined;
  /** Its first span in this process; null if nobody records it. */
  readonly span: TraceSpan | null;
}

export interface Tracer {
  begin(
    name: string,
    kind: SpanKind,
    origin: TraceOrigin,
    attributes?: Attributes,
  ): BegunTrace & Pick<TraceSpan, "traceparent">;
}

/** Goes on with a trace; without a tracer, what it comes from is passed on as it is. */
export function goOn(
  tracer: Tracer | null,
  name: string,
  kind: SpanKind,
  traceparent: string | null,
  attributes?: Attributes,
): BegunTrace {
  const origin = { traceparent: traceparent ?? undefined };
  return tracer?.begin(name, kind, origin, attributes) ?? { ...origin, span: null };
}

/** Goes on with the trace of what was put down for later, such as an event. */
export function traceLaterWork<T>(
  tracer: Tracer | null,
  name: string,
  { traceparent, attempt }: { readonly traceparent: string | null; readonly attempt: number },
  work: (trace: BegunTrace) => Promise<T>,
): Promise<T> {
  const trace = goOn(tracer, name, "consumer", traceparent, { "opwright.attempt": attempt });
  return trace.span === null ? work(trace) : endWith(trace.span, () => work(trace));
}

/** Runs work as a part of what is traced, if anything is: its failure is the span's as well. */
export function tracePart<T>(
  parent: TraceSpan | null | undefined,
  name: string,
  kind: SpanKind,
  work: (span: TraceSpan | null) => Promise<T>,
  attributes?: Attributes,
): Promise<T> {
  if (parent === null || parent === undefined) return work(null);
  return endWith(parent.begin(name, kind, attributes), work);
}

/** Ends a span with the work that it is of. */
export async function endWith<T>(
  span: TraceSpan,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  try {
    return await work(span);
  } catch (error) {
    span.fail(knownError(error).code);
    throw error;
  } finally {
    span.end();
  }
}

/** Ends the span of a request with its answer: a refusal is no failure of the service's. */
export async function answerWith<T>(span: TraceSpan, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, status } = knownError(error);
    span.note({ "opwright.code": code });
    if (status >= 500) span.fail(code);
    throw error;
  } finally {
    span.end();
  }
}

/** The ids of a span for a line of the log, by the names that OpenTelemetry gives them there. */
export function idsOf(
  traceparent: string | null | undefined,
): { readonly trace_id: string; readonly span_id: string } | null {
  if (traceparent === null || traceparent === undefined) return null;
  return { trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) };
}
