// Metrics for Prometheus (its exposition format 0.0.4): what the service does, waits for and refuses (decisions.md §3).
import type { Registry } from "prom-client";
import type { ConnectionCounts } from "../http/connections.js";
import type { Exchange } from "../http/exchange.js";
import type { AnswerBudget } from "../operations/answer-budget.js";
import type { BulkheadState } from "../ports/work.js";
import type { EngineState } from "../ports/database.js";
import type { Gauges } from "../operations/family.js";
import { Latencies } from "./latency.js";
import type { Readiness } from "./readiness.js";

/** What the metrics are read from, each time somebody asks for them. */
export interface MetricSources {
  readonly engine: () => EngineState;
  readonly connections: () => ConnectionCounts;
  readonly answers: AnswerBudget;
  readonly readiness: () => Promise<Readiness>;
  /** Further gauges, which parts of the service keep, by name. */
  readonly gauges: Gauges;
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

/** The library is loaded so many milliseconds after the start, or when metrics are first asked for: requests don't need it. */
const settledMillis = 1_000;

/** Starts keeping metrics. */
export function startMetrics(sources: MetricSources): Metrics {
  const counts: Counts = { latencies: new Latencies(), refusals: new Map(), aborted: 0 };
  let loading: Promise<Registry> | undefined;
  const registry = (): Promise<Registry> => (loading ??= registryOf(sources, counts));
  const settled = setTimeout(() => void registry().catch(() => undefined), settledMillis).unref();
  return {
    observe({ operation, code, res, isAborted, startedAt, endedAt }) {
      const seconds = (endedAt - startedAt) / 1000;
      counts.latencies.observe(operation ?? "none", res.statusCode, seconds);
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

/** The registry of all metrics, which reads their sources each time it is printed. */
async function registryOf(sources: MetricSources, counts: Counts): Promise<Registry> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  counts.latencies.register(
    registry,
    "opwright_request_seconds",
    "Time from a request's head to the end of its answer, by operation.",
  );
  const refusals = new client.Counter({
    name: "opwright_errors_total",
    help: "Answers with an error, by the code of the error table.",
    labelNames: ["code"],
    registers: [registry],
    collect() {
      refusals.reset();
      for (const [code, count] of counts.refusals) refusals.inc({ code }, count);
    },
  });
  const aborted = new client.Counter({
    name: "opwright_aborted_total",
    help: "Requests whose caller went, or was ended, before the end of the answer.",
    registers: [registry],
    collect() {
      aborted.reset();
      aborted.inc(counts.aborted);
    },
  });
  sourceGauges(gaugeMaker(client, registry), sources);
  readinessGauge(client, registry, sources);
  return registry;
}

type MakeGauge = (name: string, help: string, value: () => number | Promise<number>) => void;

/** Makes gauges whose value is read each time the metrics are printed. */
function gaugeMaker({ Gauge }: typeof import("prom-client"), registry: Registry): MakeGauge {
  return (name, help, value) => {
    const made = new Gauge({
      name: `opwright_${name}`,
      help,
      registers: [registry],
      async collect() {
        try {
          made.set(await value());
        } catch {
          // If an engine is unavailable, only its own gauge has no value.
          made.set(Number.NaN);
        }
      },
    });
  };
}

/** What runs, waits and was refused: in engines, connections and answers; and the gauges that parts of the service keep. */
function sourceGauges(gauge: MakeGauge, sources: MetricSources): void {
  const bulkhead = (name: string, of: string, state: () => BulkheadState): void => {
    gauge(`${name}_running`, `${of} under way.`, () => state().running);
    gauge(`${name}_waiting`, `${of} waiting for a place.`, () => state().waiting);
    gauge(`${name}_refused_total`, `${of} refused: too many waited.`, () => state().refused);
    gauge(`${name}_waited_total`, `${of} that had to wait.`, () => state().waited);
    gauge(
      `${name}_waited_seconds_total`,
      `Time that ${of.toLowerCase()} waited.`,
      () => state().waitedMillis / 1000,
    );
  };
  bulkhead(
    "reads",
    "Queries on the readers, or statements of callers",
    () => sources.engine().reading,
  );
  bulkhead(
    "writes",
    "Transactions on the writer, or statements of the service",
    () => sources.engine().writing,
  );
  const { connections, answers } = sources;
  gauge("connections_open", "Open HTTP connections.", () => connections().open);
  gauge(
    "connections_dropped_total",
    "Connections beyond MAX_CONNECTIONS.",
    () => connections().dropped,
  );
  gauge(
    "connections_silent_total",
    "Connections ended that brought no request.",
    () => connections().silent,
  );
  gauge(
    "connections_stalled_total",
    "Connections ended whose answer was not read.",
    () => connections().stalled,
  );
  gauge(
    "pipelined_total",
    "Requests that waited behind another on their connection.",
    () => connections().pipelined,
  );
  gauge("answers_bytes", "Bytes of large answers held.", () => answers.state.bytes);
  gauge("answers_refused_total", "Answers refused for want of room.", () => answers.state.refused);
  gauge("answers_ended_total", "Unread answers ended to make room.", () => answers.state.ended);
  for (const [name, value] of Object.entries(sources.gauges))
    gauge(name, name.replaceAll("_", " "), value);
}

/** `service` is 1 if nothing that it needs is missing, otherwise 0. Whatever is missing or degraded appears as 0 as well. */
function readinessGauge(
  { Gauge }: typeof import("prom-client"),
  registry: Registry,
  { readiness }: MetricSources,
): void {
  const up = new Gauge({
    name: "opwright_up",
    help: "Whether what the service needs is there.",
    labelNames: ["what"],
    registers: [registry],
    async collect() {
      up.reset();
      const { missing, degraded } = await readiness();
      up.set({ what: "service" }, missing.length === 0 ? 1 : 0);
      for (const what of [...missing, ...degraded]) up.set({ what }, 0);
    },
  });
}
