// What is watched of every service: whether it is there, what it answers, and what it waits for.
import type { AlertModel, MetricOf, PanelModel } from "../../kernel/monitoring.js";

export function usualAlerts(metric: MetricOf): readonly AlertModel[] {
  return [
    {
      name: "ServiceGone",
      expression: `absent(${metric("opwright_up", 'what="service"')})`,
      lasting: "1m",
      severity: "page",
      summary: "No process of the service says anything.",
      advice: "Prometheus must scrape it under this job. Otherwise none is running.",
    },
    {
      name: "ServiceNotReady",
      expression: `max by (job) (${metric("opwright_up", 'what="service"')}) == 0`,
      lasting: "1m",
      severity: "page",
      summary: "No process of the service is ready.",
      advice:
        "`opwright_up` and `/readyz` say what is missing; `server.js doctor` says what to do.",
    },
    {
      name: "SomethingMissing",
      expression: `${metric("opwright_up", 'what!="service"')} == 0`,
      lasting: "5m",
      severity: "ticket",
      summary: "A process lacks something that it needs: {{ $labels.what }}.",
      advice: "`server.js doctor` says what to do.",
    },
  ];
}

export function usualPanels(metric: MetricOf): readonly PanelModel[] {
  const seconds = (suffix: string, ...labels: readonly string[]): string =>
    metric(`opwright_request_seconds_${suffix}`, ...labels);
  const served = 'operation!="none"';
  const quantile = (of: number, by = ""): string =>
    `histogram_quantile(${of}, sum by (le${by}) (rate(${seconds("bucket", served)}[$__rate_interval])))`;
  const rate = (name: string): string => `sum(rate(${metric(name)}[$__rate_interval]))`;
  return [
    {
      title: "Requests by status",
      unit: "reqps",
      queries: [
        {
          expression: `sum by (status) (rate(${seconds("count", served)}[$__rate_interval]))`,
          legend: "{{status}}",
        },
      ],
    },
    {
      title: "Time of requests",
      unit: "s",
      queries: [0.5, 0.95, 0.99].map((of) => ({
        expression: quantile(of),
        legend: `p${of * 100}`,
      })),
    },
    {
      title: "Busiest operations",
      unit: "reqps",
      queries: [
        {
          expression: `topk(10, sum by (operation) (rate(${seconds("count", served)}[$__rate_interval])))`,
          legend: "{{operation}}",
        },
      ],
    },
    {
      title: "Slowest operations (p95)",
      unit: "s",
      queries: [
        { expression: `topk(10, ${quantile(0.95, ", operation")})`, legend: "{{operation}}" },
      ],
    },
    {
      title: "Errors by code",
      unit: "reqps",
      queries: [
        {
          expression: `sum by (code) (rate(${metric("opwright_errors_total")}[$__rate_interval]))`,
          legend: "{{code}}",
        },
      ],
    },
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
        { expression: rate("opwright_reads_refused_total"), legend: "reads" },
        { expression: rate("opwright_writes_refused_total"), legend: "writes" },
        { expression: rate("opwright_answers_refused_total"), legend: "answers" },
        { expression: rate("opwright_connections_dropped_total"), legend: "connections" },
      ],
    },
    {
      title: "Open connections",
      unit: "short",
      queries: [{ expression: metric("opwright_connections_open"), legend: "{{instance}}" }],
    },
    {
      title: "Event loop, delay of one in a hundred",
      unit: "s",
      queries: [{ expression: metric("nodejs_eventloop_lag_p99_seconds"), legend: "{{instance}}" }],
    },
    {
      title: "Memory",
      unit: "bytes",
      queries: [{ expression: metric("process_resident_memory_bytes"), legend: "{{instance}}" }],
    },
  ];
}
