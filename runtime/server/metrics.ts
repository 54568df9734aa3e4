// Metrics for Prometheus (its exposition format 0.0.4): what the service does, waits for and
// refuses (decisions.md §3).
import type { Registry } from "prom-client";
import type { ConnectionCounts } from "../http/connections.js";
import type { Exchange } from "../http/exchange.js";
import type { AnswerBudget } from "../operations/answer-budget.js";
import type { BulkheadState } from "../ports/work.js";
import type { EngineState } from "../ports/database.js";
import {
  counter,
  gauge,
  printedName,
  type DeclaredMetrics,
  type MetricDeclaration,
  type MetricReading,
  type Sample,
} from "../operations/metric.js";
import { Latencies } from "./latency.js";
import { Objectives, type CountedObjectives } from "./objectives.js";
import type { Readiness } from "./readiness.js";
import { startTimer } from "../ports/ambient.js";
import { ownVersion } from "./own-version.js";

/** What the metrics are read from, each time somebody asks for them. */
export interface MetricSources {
  readonly engine: () => EngineState;
  readonly connections: () => ConnectionCounts;
  readonly answers: AnswerBudget;
  readonly readiness: () => Promise<Readiness>;
  readonly service: { readonly name: string; readonly version: string };
  /** What is counted for objectives, where there are some. */
  readonly objectives?: CountedObjectives;
  /** Further metrics, which parts of the service keep. */
  readonly further: DeclaredMetrics;
}

export interface Metrics {
  /** Counts a request that has ended. */
  observe(exchange: Exchange): void;
  /** All metrics as text, with its content type. */
  text(): Promise<{ readonly type: string; readonly text: string }>;
  close(): void;
}

/** What is counted about requests that have ended. */
interface Counts {
  readonly latencies: Latencies;
  /** Answers with an error, by its code. */
  readonly refusals: Map<string, number>;
  aborted: number;
}

/**
 * The library is loaded so many milliseconds after the start, or when metrics are first asked for:
 * requests don't need it.
 */
const settledMillis = 1_000;

/** Starts keeping metrics. */
export function startMetrics(sources: MetricSources): Metrics {
  const counts: Counts = { latencies: new Latencies(), refusals: new Map(), aborted: 0 };
  const { objectives } = sources;
  const kept = objectives === undefined ? undefined : new Objectives(objectives);
  let loading: Promise<Registry> | undefined;
  const registry = (): Promise<Registry> =>
    (loading ??= registryOf(sources, counts, kept?.metrics()));
  const settled = startTimer(() => void registry().catch(() => undefined), settledMillis).unref();
  return {
    observe({ operation, code, res, isAborted, startedAt, endedAt }) {
      const seconds = (endedAt - startedAt) / 1000;
      counts.latencies.observe(operation ?? "none", res.statusCode, seconds);
      if (operation !== null) kept?.observe(operation, res.statusCode, seconds, isAborted);
      if (code !== null) counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + 1);
      if (isAborted) counts.aborted += 1;
    },
    async text() {
      const known = await registry();
      return { type: known.contentType, text: await known.metrics() };
    },
    close: () => clearTimeout(settled),
  };
}

/** Sums of others whose names say that they only grow, which `promtool check metrics` refuses. */
const misnamed = ["handles", "requests", "resources"].map((of) => `nodejs_active_${of}_total`);

/** The registry of all metrics, which reads their sources each time it is printed. */
async function registryOf(
  sources: MetricSources,
  counts: Counts,
  ofObjectives: DeclaredMetrics = {},
): Promise<Registry> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  counts.latencies.register(
    registry,
    "opwright_request_seconds",
    "Time from a request's head to the end of its answer, by operation.",
  );
  const declared = {
    ...metricsOfRequests(counts),
    ...metricsOfEngine(sources),
    ...metricsOfConnections(sources),
    ...metricsOfService(sources),
    ...ofObjectives,
    ...sources.further,
  };
  for (const [name, metric] of Object.entries(declared)) register(client, registry, name, metric);
  return registry;
}

/** Adds a metric that is read each time the metrics are printed. */
function register(
  client: typeof import("prom-client"),
  registry: Registry,
  name: string,
  metric: MetricDeclaration,
): void {
  const { help } = metric;
  const common = {
    name: printedName(name, metric),
    help,
    labelNames: [...metric.labels],
    registers: [registry],
  };
  if (metric.type === "counter") {
    const made = new client.Counter({
      ...common,
      collect() {
        made.reset();
        for (const { labels, value } of samplesOf(metric.read())) made.inc(labels, value);
      },
    });
    return;
  }
  const made = new client.Gauge({
    ...common,
    async collect() {
      try {
        const samples = samplesOf(await metric.read());
        made.reset();
        for (const { labels, value } of samples) made.set(labels, value);
      } catch {
        // If an engine is unavailable, only its own gauges have no value.
        made.reset();
        if (metric.labels.length === 0) made.set(Number.NaN);
      }
    },
  });
}

function samplesOf(reading: MetricReading): readonly Sample[] {
  return typeof reading === "number" ? [{ labels: {}, value: reading }] : reading;
}

function metricsOfRequests(counts: Counts): DeclaredMetrics {
  return {
    errors: counter(
      "Answers with an error, by the code of the error table.",
      () => [...counts.refusals].map(([code, value]) => ({ labels: { code }, value })),
      ["code"],
    ),
    aborted: counter(
      "Requests whose caller went, or was ended, before the end of the answer.",
      () => counts.aborted,
    ),
  };
}

/** What runs, waits and was refused in the engine. */
function metricsOfEngine({ engine }: MetricSources): DeclaredMetrics {
  const bulkhead = (name: string, of: string, state: () => BulkheadState): DeclaredMetrics => ({
    [`${name}_limit`]: gauge(`${of} that may be under way.`, () => state().limit),
    [`${name}_running`]: gauge(`${of} under way.`, () => state().running),
    [`${name}_waiting`]: gauge(`${of} waiting for a place.`, () => state().waiting),
    [`${name}_refused`]: counter(`${of} refused: too many waited.`, () => state().refused),
    [`${name}_waited`]: counter(`${of} that had to wait.`, () => state().waited),
    [`${name}_waited_seconds`]: counter(
      `Time that ${of.toLowerCase()} waited.`,
      () => state().waitedMillis / 1000,
    ),
  });
  return {
    ...bulkhead(
      "reads",
      "Queries on the readers, or statements of callers",
      () => engine().reading,
    ),
    ...bulkhead(
      "writes",
      "Transactions on the writer, or statements of the service",
      () => engine().writing,
    ),
    replica_answered: counter(
      "Reads that the replica has answered.",
      () => engine().replica.answered,
    ),
    replica_missed: counter(
      "Reads that the database itself has answered, as the replica could not.",
      () => engine().replica.missed,
    ),
  };
}

/** HTTP connections, and the answers that wait on them. */
function metricsOfConnections({ connections, answers }: MetricSources): DeclaredMetrics {
  return {
    connections_open: gauge("Open HTTP connections.", () => connections().open),
    connections_dropped: counter(
      "Connections beyond MAX_CONNECTIONS.",
      () => connections().dropped,
    ),
    connections_silent: counter(
      "Connections ended that brought no request.",
      () => connections().silent,
    ),
    connections_stalled: counter(
      "Connections ended whose answer was not read.",
      () => connections().stalled,
    ),
    pipelined: counter(
      "Requests that waited behind another on their connection.",
      () => connections().pipelined,
    ),
    answers_bytes: gauge("Bytes of large answers held.", () => answers.state.bytes),
    answers_refused: counter("Answers refused for want of room.", () => answers.state.refused),
    answers_ended: counter("Unread answers ended to make room.", () => answers.state.ended),
  };
}

/** What runs, and whether what it needs is there. */
function metricsOfService({ service, readiness }: MetricSources): DeclaredMetrics {
  const { name, version } = service;
  const labels = { service: name, version, opwright: ownVersion() };
  return {
    build_info: gauge(
      "1, with the name and the version of the service, and the version of opwright.",
      () => [{ labels, value: 1 }],
      Object.keys(labels),
    ),
    up: gauge(
      "Whether what the service needs is there.",
      async () => {
        const { missing, degraded } = await readiness();
        const isReady = missing.length === 0;
        return [
          { labels: { what: "service" }, value: isReady ? 1 : 0 },
          ...[...missing, ...degraded].map((what) => ({ labels: { what }, value: 0 })),
        ];
      },
      ["what"],
    ),
  };
}
