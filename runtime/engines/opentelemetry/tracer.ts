// Traces by OpenTelemetry's API. What becomes of spans is up to the SDK that the author's process
// has registered with it: which are recorded, and where they go.
import {
  context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind as ApiKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as ApiSpan,
  type SpanContext,
  type Tracer as ApiTracer,
} from "@opentelemetry/api";
import type { Attributes, TraceSpan, SpanKind, TraceOrigin, Tracer } from "../../ports/tracer.js";

const kinds: Readonly<Record<SpanKind, ApiKind>> = {
  server: ApiKind.SERVER,
  client: ApiKind.CLIENT,
  producer: ApiKind.PRODUCER,
  consumer: ApiKind.CONSUMER,
  internal: ApiKind.INTERNAL,
};

/** The tracer of a version of opwright. */
export function openTelemetryTracer(version: string): Tracer {
  const tracer = trace.getTracer("opwright", version);
  return {
    begin(name, kind, origin, attributes) {
      const parent = parentOf(origin);
      const begun = tracer.startSpan(
        name,
        { kind: kinds[kind], ...withAttributes(attributes) },
        parent,
      );
      const traceparent = traceparentOf(begun.spanContext());
      if (!begun.isRecording()) return { traceparent, span: null };
      return { traceparent, span: new RecordedSpan(tracer, begun, parent) };
    },
  };
}

class RecordedSpan implements TraceSpan {
  readonly traceparent: string;
  readonly #tracer: ApiTracer;
  readonly #span: ApiSpan;
  readonly #context: Context;

  constructor(tracer: ApiTracer, span: ApiSpan, parent: Context) {
    this.traceparent = traceparentOf(span.spanContext());
    this.#tracer = tracer;
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  begin(name: string, kind: SpanKind, attributes?: Attributes): TraceSpan {
    const options = { kind: kinds[kind], ...withAttributes(attributes) };
    const begun = this.#tracer.startSpan(name, options, this.#context);
    return new RecordedSpan(this.#tracer, begun, this.#context);
  }

  note(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  fail(type: string): void {
    this.#span.setAttribute("error.type", type);
    // Without a message: those of errors may have what a caller has sent.
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }

  within<T>(work: () => T): T {
    return context.with(this.#context, work);
  }
}

function withAttributes(attributes: Attributes | undefined): { readonly attributes?: Attributes } {
  return attributes === undefined ? {} : { attributes };
}

/** The context of what a trace comes from. */
function parentOf({ traceparent, tracestate, joinsOthers = false }: TraceOrigin): Context {
  if (joinsOthers && trace.getSpan(context.active()) !== undefined) return context.active();
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  });
}

/** A span's ids as W3C Trace Context §3.2 writes them. */
function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
