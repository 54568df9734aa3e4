// The port of traces: what a piece of work takes, and which other work it belongs to, in other
// processes as well (W3C Trace Context; OpenTelemetry's semantic conventions).
import { knownError } from "../contract/errors.js";
import { readTraceparent } from "../contract/traceparent.js";

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
  /** The span that another library has begun for the same request, which is its parent then. */
  readonly outer?: OuterSpan | null;
}

/** A span of another library, as `Tracer.outer` has found it. */
export interface OuterSpan {
  readonly isOuter: true;
}

/** A trace as this process goes on with it. */
export interface BegunTrace {
  /** What others are told who go on with it; undefined if it is in no trace. */
  readonly traceparent: string | undefined;
  /** Its first span in this process; null if nobody records it. */
  readonly span: TraceSpan | null;
  /** Runs work in which libraries that trace by themselves are in this trace, and in no other. */
  within<T>(work: () => T): T;
}

/** Nothing of it throws, whatever an SDK does. */
export interface Tracer {
  /** Begins the first span of a trace in this process. */
  begin(name: string, kind: SpanKind, origin: TraceOrigin, attributes?: Attributes): BegunTrace;
  /** The span that another library has begun around what runs now; null if there is none. */
  outer(): OuterSpan | null;
  /** Resolves once what has been recorded is where it goes, or can't be had there in time. */
  flush(): Promise<void>;
}

/** Goes on with a trace; without a tracer, what it comes from is passed on as it is. */
export function goOn(
  tracer: Tracer | null,
  name: string,
  kind: SpanKind,
  traceparent: string | null,
  attributes?: Attributes,
): BegunTrace {
  // It may have been stored by another version, or changed by hand.
  const origin = { traceparent: readTraceparent(traceparent) };
  return tracer?.begin(name, kind, origin, attributes) ?? passTraceOn(origin.traceparent);
}

/** A trace that is only passed on. */
export function passTraceOn(traceparent: string | undefined): BegunTrace {
  return { traceparent, span: null, within: (work) => work() };
}

/** Goes on with the trace of what was put down for later, such as an event. */
export function traceLaterWork<T>(
  tracer: Tracer | null,
  name: string,
  { traceparent, attempt }: { readonly traceparent: string | null; readonly attempt: number },
  work: (trace: BegunTrace) => Promise<T>,
): Promise<T> {
  const trace = goOn(tracer, name, "consumer", traceparent, { "opwright.attempt": attempt });
  const run = (): Promise<T> => trace.within(() => work(trace));
  return trace.span === null ? run() : endWith(trace.span, run);
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

/** Ends a span with the work that it is of. What is refused (4xx) is no failure of it. */
export async function endWith<T>(
  span: TraceSpan,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  try {
    return await work(span);
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
  const known = readTraceparent(traceparent);
  if (known === undefined) return null;
  return { trace_id: known.slice(3, 35), span_id: known.slice(36, 52) };
}
