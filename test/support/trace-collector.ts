// Takes the spans of services as a collector of traces does, over HTTP (OTLP 1, JSON).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

export interface TakenSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer";
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface TraceCollector {
  /** What a service is told, so that it sends its spans here; `more` goes to the file that it loads before. */
  environmentOf(service: string, more?: keyof typeof others): Readonly<Record<string, string>>;
  readonly spans: TakenSpan[];
  /** The spans of one trace. */
  trace(traceId: string): readonly TakenSpan[];
  close(): void;
}

const root = new URL("../..", import.meta.url).pathname;

/** What a team may have beside the file of the page. */
const others = {
  // Node.js's own HTTP is traced by OpenTelemetry's instrumentation.
  instrumentation: `
import { createRequire } from "node:module";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
createRequire(import.meta.url)("node:http");
`,
  // The SDK throws whenever a span begins or ends.
  throwing: `
import { trace } from "@opentelemetry/api";
const refuse = () => {
  throw new Error("the SDK throws");
};
const processor = { onStart: refuse, onEnd: refuse, forceFlush: async () => refuse(), shutdown: async () => undefined };
trace.disable();
new NodeTracerProvider({ spanProcessors: [processor] }).register();
`,
  // A tracer that makes no spans, such as that of another version of the API.
  mute: `
import { INVALID_SPAN_CONTEXT, trace } from "@opentelemetry/api";
trace.disable();
trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => trace.wrapSpanContext(INVALID_SPAN_CONTEXT) }) });
`,
} as const;

/** The file that docs/tracing.md has a team load before its server, where it finds the packages. */
function writeTracing(more: keyof typeof others | undefined): string {
  const page = readFileSync(join(root, "docs/tracing.md"), "utf8");
  const [, text] = /```js\n(\/\/ tracing\.mjs\n[^`]*)```/.exec(page) ?? [];
  if (text === undefined) throw new Error("docs/tracing.md has no tracing.mjs");
  const folder = join(root, "node_modules/.cache/opwright-tracing");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${process.pid}-${more}.mjs`);
  const whole = text.replace("{ contextManager: null }", "");
  writeFileSync(path, more === undefined ? text : whole + others[more]);
  return pathToFileURL(path).href;
}

export async function startCollector(): Promise<TraceCollector> {
  const spans: TakenSpan[] = [];
  const server = createServer((req, res) => {
    void json(req).then((body) => {
      spans.push(...readSpans(body as Exported));
      res.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environmentOf: (service, more) => ({
      NODE_OPTIONS: `--import ${writeTracing(more)}`,
      OTEL_SERVICE_NAME: service,
      OTEL_BSP_SCHEDULE_DELAY: "200",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    }),
    spans,
    trace: (traceId) => spans.filter((span) => span.traceId === traceId),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly status?: { readonly code?: number };
        readonly attributes: readonly Attribute[];
      }[];
    }[];
  }[];
}

/** The names of kinds by their numbers in OTLP. */
const kinds = ["internal", "internal", "server", "client", "producer", "consumer"] as const;

function readSpans({ resourceSpans }: Exported): readonly TakenSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        service: String(readAttributes(resource.attributes)["service.name"]),
        name: span.name,
        kind: kinds[span.kind] ?? "internal",
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        isFailed: span.status?.code === 2,
        attributes: readAttributes(span.attributes),
      })),
    ),
  );
}

function readAttributes(attributes: readonly Attribute[]) {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? ""]),
  );
}
