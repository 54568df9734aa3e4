// Traces by OpenTelemetry's API. What becomes of spans is up to the SDK that the author's process
// has registered with it: which are recorded, and where they go.
import {
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind as ApiKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as ApiSpan,
  type SpanContext,
  type Tracer as ApiTracer,
} from "@opentelemetry/api";
import type { Log } from "../../ports/log.js";
import {
  passTraceOn,
  type Attributes,
  type BegunTrace,
  type OuterSpan,
  type SpanKind,
  type TraceOrigin,
  type Tracer,
  type TraceSpan,
} from "../../ports/tracer.js";
import { within as withinTime } from "../../work/within.js";
import { SdkFaults } from "./sdk-faults.js";

const kinds: Readonly<Record<SpanKind, ApiKind>> = {
  server: ApiKind.SERVER,
  client: ApiKind.CLIENT,
  producer: ApiKind.PRODUCER,
  consumer: ApiKind.CONSUMER,
  internal: ApiKind.INTERNAL,
};

/** Milliseconds that the end of a process waits for its last spans to be sent. */
const flushMillis = 5_000;

/** The tracer of a version of opwright. */
export function openTelemetryTracer(version: string, log: Log): Tracer {
  const faults = new SdkFaults(log);
  const tracer = trace.getTracer("opwright", version);
  return {
    begin(name, kind, origin, attributes) {
      const { traceparent } = origin;
      const ask = (): BegunTrace => {
        const parent = parentOf(origin);
        const begun = tracer.startSpan(
          name,
          { kind: kinds[kind], ...withAttributes(attributes) },
          parent,
        );
        const ids = begun.spanContext();
        if (!isSpanContextValid(ids)) {
          faults.note(new Error("the SDK that is registered makes no spans"));
          return passTraceOn(traceparent);
        }
        const span = new RecordedSpan({ tracer, faults }, begun, parent);
        return {
          traceparent: traceparentOf(ids),
          span: begun.isRecording() ? span : null,
          within: (work) => span.within(work),
        };
      };
      return faults.avoid(ask, () => passTraceOn(traceparent));
    },

    outer: () => faults.avoid(findSpan, () => null),

    async flush() {
      try {
        await withinTime(flushMillis, flushProvider(), () => new Error("it takes too long"));
      } catch (error) {
        faults.note(error);
      }
    },
  };
}

function findSpan(): OuterSpan | null {
  const active = context.active();
  return trace.getSpan(active) === undefined ? null : new FoundSpan(active);
}

/** The context in which another library has begun a span. */
class FoundSpan implements OuterSpan {
  readonly isOuter = true;
  readonly context: Context;

  constructor(found: Context) {
    this.context = found;
  }
}

interface Recorder {
  readonly tracer: ApiTracer;
  readonly faults: SdkFaults;
}

class RecordedSpan implements TraceSpan {
  readonly traceparent: string;
  readonly #recorder: Recorder;
  readonly #span: ApiSpan;
  readonly #context: Context;

  constructor(recorder: Recorder, span: ApiSpan, parent: Context) {
    this.traceparent = traceparentOf(span.spanContext());
    this.#recorder = recorder;
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  begin(name: string, kind: SpanKind, attributes?: Attributes): TraceSpan {
    const { tracer, faults } = this.#recorder;
    const ask = (): TraceSpan => {
      const options = { kind: kinds[kind], ...withAttributes(attributes) };
      const begun = tracer.startSpan(name, options, this.#context);
      return new RecordedSpan(this.#recorder, begun, this.#context);
    };
    return faults.avoid(ask, () => silentSpan(this.traceparent));
  }

  note(attributes: Attributes): void {
    this.#recorder.faults.avoid(() => void this.#span.setAttributes(attributes), doNothing);
  }

  fail(type: string): void {
    this.#recorder.faults.avoid(() => {
      this.#span.setAttribute("error.type", type);
      // Without a message: those of errors may have what a caller has sent.
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }, doNothing);
  }

  end(): void {
    this.#recorder.faults.avoid(() => this.#span.end(), doNothing);
  }

  within<T>(work: () => T): T {
    let hasBegun = false;
    const run = (): T => {
      hasBegun = true;
      return work();
    };
    try {
      return context.with(this.#context, run);
    } catch (error) {
      if (hasBegun) throw error;
      this.#recorder.faults.note(error);
      return work();
    }
  }
}

/** A span of which nothing is recorded, in the place of one that an SDK has refused to begin. */
function silentSpan(traceparent: string): TraceSpan {
  const span: TraceSpan = {
    traceparent,
    begin: () => span,
    note: doNothing,
    fail: doNothing,
    end: doNothing,
    within: (work) => work(),
  };
  return span;
}

function doNothing(): void {
  // Nobody records it.
}

function withAttributes(attributes: Attributes | undefined): { readonly attributes?: Attributes } {
  return attributes === undefined ? {} : { attributes };
}

/** The context of what a trace comes from. */
function parentOf({ traceparent, tracestate, outer }: TraceOrigin): Context {
  if (outer instanceof FoundSpan) return outer.context;
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

/** What providers of SDKs have beyond the API. */
interface Flushing {
  readonly getDelegate?: () => Flushing;
  readonly forceFlush?: () => Promise<void>;
}

async function flushProvider(): Promise<void> {
  const provider = trace.getTracerProvider() as Flushing;
  await (provider.getDelegate?.() ?? provider).forceFlush?.();
}
