// What a team loads before its server to have it traced: an SDK of OpenTelemetry, and where its spans go.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const exporter = new OTLPTraceExporter();
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": process.env.OTEL_SERVICE_NAME ?? "tracker" }),
  spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 200 })],
});
provider.register();
process.once("beforeExit", () => provider.shutdown());
