// What is watched of every service: whether it is there, what it answers, and what it waits for.
import type { AlertModel, MetricOf, PanelModel } from "../../kernel/monitoring.js";

export function usualAlerts(metric: MetricOf): readonly AlertModel[] {
  return [
    {
      name: "ServiceGone",
      expression: `absent(${metric("opwright_up", 'what="service"')})`,
      lasting: "1m",
      keeping: "5m",
      severity: "page",
      summary: "Prometheus gets no metrics of any process.",
      advice: "Check that a process runs, and that Prometheus scrapes it under this job.",
    },
    {
      name: "ProcessGone",
      expression: `${metric("up")} == 0`,
      lasting: "5m",
      keeping: "",
      severity: "ticket",
      summary: "Prometheus gets no metrics of {{ $labels.instance }}.",
      advice: "Its log says why it ended; requests that reach no process are counted nowhere.",
    },
    {
      name: "ProcessRestarts",
      expression: `changes(${metric("process_start_time_seconds")}[15m]) > 2`,
      lasting: "",
      keeping: "15m",
      severity: "ticket",
      summary: "A process at {{ $labels.instance }} starts again and again.",
      advice: "Its log says why it ended, or the supervisor does: memory, a failed probe.",
    },
    {
      name: "ServiceNotReady",
      expression: `max by (job) (${metric("opwright_up", 'what="service"')}) == 0`,
      lasting: "1m",
      keeping: "5m",
      severity: "page",
      summary: "No process of the service is ready.",
      advice:
        "`opwright_up` and `/readyz` say what is missing; `server.js doctor` says what to do.",
    },
    {
      name: "SomethingMissing",
      expression: `${metric("opwright_up", 'what!="service"')} == 0`,
      lasting: "5m",
      keeping: "",
      severity: "ticket",
      summary: "A process lacks something that it needs: {{ $labels.what }}.",
      advice: "`server.js doctor` says what to do.",
    },
    {
      name: "BackupBehind",
      expression: `${metric("opwright_backup_behind_seconds")} > 60`,
      lasting: "",
      keeping: "1m",
      severity: "page",
      summary: "The continuous backup hasn't taken what was committed for a minute.",
      advice:
        "The log says why; `server.js doctor` says what it has. The disk keeps the rest meanwhile.",
    },
  ];
}

/** A graph of one query. */
function drawOne(
  title: string,
  unit: PanelModel["unit"],
  expression: string,
  legend: string,
): PanelModel {
  return { title, unit, queries: [{ expression, legend }] };
}

export function usualPanels(metric: MetricOf): readonly PanelModel[] {
  return [...requestPanels(metric), ...processPanels(metric)];
}

/** What is asked for, and how it is answered. */
function requestPanels(metric: MetricOf): readonly PanelModel[] {
  const seconds = (suffix: string): string =>
    metric(`opwright_request_seconds_${suffix}`, 'operation!="none"');
  const rateBy = (label: string): string =>
    `sum by (${label}) (rate(${seconds("count")}[$__rate_interval]))`;
  const quantile = (of: number, by = ""): string =>
    `histogram_quantile(${of}, sum by (le${by}) (rate(${seconds("bucket")}[$__rate_interval])))`;
  const errors = metric("opwright_errors_total");
  return [
    drawOne("Requests by status", "reqps", rateBy("status"), "{{status}}"),
    {
      title: "Time of requests",
      unit: "s",
      queries: [0.5, 0.95, 0.99].map((of) => ({
        expression: quantile(of),
        legend: `p${of * 100}`,
      })),
    },
    drawOne("Busiest operations", "reqps", `topk(10, ${rateBy("operation")})`, "{{operation}}"),
    drawOne(
      "Slowest operations (p95)",
      "s",
      `topk(10, ${quantile(0.95, ", operation")})`,
      "{{operation}}",
    ),
    drawOne(
      "Errors by code",
      "reqps",
      `sum by (code) (rate(${errors}[$__rate_interval]))`,
      "{{code}}",
    ),
  ];
}

/** What waits, what is refused, and how the processes are. */
function processPanels(metric: MetricOf): readonly PanelModel[] {
  const ofEach = (title: string, unit: PanelModel["unit"], name: string): PanelModel =>
    drawOne(title, unit, metric(name), "{{instance}}");
  const countRefused = (what: string, name: string) => ({
    expression: `sum(rate(${metric(name)}[$__rate_interval]))`,
    legend: what,
  });
  return [
    {
      title: "What waits for the database",
      unit: "short",
      queries: ["reads", "writes"].flatMap((of) => [
        { expression: `sum(${metric(`opwright_${of}_running`)})`, legend: `${of} running` },
        { expression: `sum(${metric(`opwright_${of}_waiting`)})`, legend: `${of} waiting` },
      ]),
    },
    {
      title: "Refused for want of room",
      unit: "reqps",
      queries: [
        countRefused("reads", "opwright_reads_refused_total"),
        countRefused("writes", "opwright_writes_refused_total"),
        countRefused("answers", "opwright_answers_refused_total"),
        countRefused("connections", "opwright_connections_dropped_total"),
      ],
    },
    ofEach("Open connections", "short", "opwright_connections_open"),
    ofEach("Event loop lag (p99)", "s", "nodejs_eventloop_lag_p99_seconds"),
    ofEach("Memory", "bytes", "process_resident_memory_bytes"),
  ];
}
