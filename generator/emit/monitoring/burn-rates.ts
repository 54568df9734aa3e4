// Alerts on how quickly an error budget is used up, over two windows each, so that they fire soon
// and end soon (Site Reliability Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts").
import type { AlertModel, MetricOf } from "../../kernel/monitoring.js";

/** An objective whose failures are counted. */
export interface Objective {
  /** Name of its recorded ratios, between `service:` and `:ratio_rate5m`. */
  readonly ratio: string;
  /** Its alerts are called `<name>BurnsFast` and `<name>Burns`. */
  readonly name: string;
  /** Counters: failures, and all that could have failed. */
  readonly failed: string;
  readonly all: string;
  /** Percent that must not fail. */
  readonly share: number;
  readonly summary: string;
  readonly advice: string;
}

/** A recorded expression. */
export interface RecordModel {
  /** How often it is evaluated: long windows move slowly, and cost most. */
  readonly every: "15s" | "5m";
  readonly name: string;
  readonly expression: string;
}

/** Windows over which failures are related to all. */
const windows = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"] as const;

interface Burn {
  readonly short: (typeof windows)[number];
  readonly long: (typeof windows)[number];
  /** How many times quicker than allowed over 30 days. */
  readonly rate: number;
}

/** A fiftieth of the budget in an hour, a twentieth in six. */
const fast: readonly Burn[] = [
  { short: "5m", long: "1h", rate: 14.4 },
  { short: "30m", long: "6h", rate: 6 },
];
/** A tenth of the budget in a day, or in three. */
const slow: readonly Burn[] = [
  { short: "2h", long: "1d", rate: 3 },
  { short: "6h", long: "3d", rate: 1 },
];

/**
 * As few failures as these in the long window are no reason to call somebody. Prometheus counts
 * them roughly: an increase is drawn out to the ends of its window.
 */
const few = 10;

/** The ratios that alerts and the dashboard read, for each window. */
export function recordsOf(
  { ratio, failed, all }: Objective,
  metric: MetricOf,
): readonly RecordModel[] {
  return windows.map((window) => ({
    every: window.endsWith("d") ? ("5m" as const) : ("15s" as const),
    name: recordOf(ratio, window),
    expression: `sum(rate(${metric(failed)}[${window}])) / sum(rate(${metric(all)}[${window}]))`,
  }));
}

/** The two alerts of an objective of a service, whose records have its name as a label. */
export function burnAlerts(
  service: string,
  objective: Objective,
  metric: MetricOf,
): readonly AlertModel[] {
  const { name, summary, advice } = objective;
  const alert = (burns: readonly Burn[]): string =>
    burns.map((burn) => conditionOf(service, objective, burn, metric)).join("\nor\n");
  return [
    {
      name: `${name}BurnsFast`,
      expression: alert(fast),
      lasting: "",
      keeping: "15m",
      severity: "page",
      summary: `${summary}, so often that the budget of a month is gone in days.`,
      advice,
    },
    {
      name: `${name}Burns`,
      expression: alert(slow),
      lasting: "",
      keeping: "1h",
      severity: "ticket",
      summary: `${summary}, more often than the objective allows.`,
      advice,
    },
  ];
}

function conditionOf(
  service: string,
  { ratio, failed, share }: Objective,
  { short, long, rate }: Burn,
  metric: MetricOf,
) {
  const limit = limitOf(share, rate);
  const ratioOver = (window: string): string => `${recordOf(ratio, window)}{service="${service}"}`;
  return [
    "(",
    `  ${ratioOver(short)} > ${limit}`,
    `  and ${ratioOver(long)} > ${limit}`,
    `  and on () sum(increase(${metric(failed)}[${long}])) > ${few}`,
    ")",
  ].join("\n");
}

/** The ratio of failures from which a budget burns so many times too quickly. */
function limitOf(share: number, rate: number): string {
  return String(Number(((rate * (100 - share)) / 100).toPrecision(6)));
}

/** How Prometheus names a ratio over a window: level, metric and operation. */
export function recordOf(ratio: string, window: string): string {
  return `service:${ratio}:ratio_rate${window}`;
}
