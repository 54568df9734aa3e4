// An SDK that records a share of traces, and sends them as a service of production does.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";

const { BENCH_SAMPLED: share, BENCH_HAS_CONTEXT: hasContext } = process.env;
new NodeTracerProvider({
  sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(share)) }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(), { maxQueueSize: 20_000 })],
}).register(hasContext === "true" ? {} : { contextManager: null });
