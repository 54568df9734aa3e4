// What those who run a service watch: alerts of Prometheus, and panels of a dashboard.

/** An alert: it fires once its expression has had a result for some time. */
export interface AlertModel {
  /** In CamelCase, unique in a service. */
  readonly name: string;
  /** PromQL; see `Watched`. */
  readonly expression: string;
  /** How long it must last, such as `5m`; "" for not at all. */
  readonly lasting: string;
  /** How long it goes on once its expression has none; "" for not at all. */
  readonly keeping: string;
  /** Whether somebody is called out, or looks at it in the day. */
  readonly severity: "page" | "ticket";
  /** What is wrong, in a sentence. */
  readonly summary: string;
  /** What to look at, in a sentence or two. */
  readonly advice: string;
}

/** A graph of a dashboard. */
export interface PanelModel {
  readonly title: string;
  /** Unit of its axis, as Grafana names it. */
  readonly unit: "reqps" | "s" | "short" | "percentunit" | "bytes";
  readonly queries: readonly { readonly expression: string; readonly legend: string }[];
}

/** What is to be watched of a service because of a family. */
export interface Watched {
  readonly alerts: readonly AlertModel[];
  readonly panels: readonly PanelModel[];
}

/**
 * Prints a metric of one service with the labels that tell it from others: `opwright_up` is that of
 * the job which Prometheus scrapes the service as.
 */
export type MetricOf = (name: string, ...labels: readonly string[]) => string;

/** Nothing to watch. */
export const nothingWatched: Watched = { alerts: [], panels: [] };

/** Work that waits in a store: what it is called, and the metrics of it. */
export interface WatchedBacklog {
  /** In CamelCase: `Outbox`. */
  readonly name: string;
  /** What waits, in words: `events of the outbox`. */
  readonly what: string;
  /** The beginning of its metrics: `opwright_outbox`. */
  readonly prefix: string;
  /** The section of the docs about it. */
  readonly page: string;
}

/** Alerts if work waits for long or is given up, and graphs of both. */
export function watchBacklog(
  { name, what, prefix, page }: WatchedBacklog,
  metric: MetricOf,
): Watched {
  const rate = (suffix: string): string =>
    `sum(rate(${metric(`${prefix}_${suffix}`)}[$__rate_interval]))`;
  return {
    alerts: [
      {
        name: `${name}Waits`,
        expression: `max(${metric(`${prefix}_lag_seconds`)}) > 300`,
        lasting: "5m",
        keeping: "",
        severity: "ticket",
        summary: `The oldest of the ${what} have waited for more than five minutes.`,
        advice: page,
      },
      {
        name: `${name}GivesUp`,
        expression: `sum(increase(${metric(`${prefix}_given_up_total`)}[1h])) > 0`,
        lasting: "",
        keeping: "",
        severity: "ticket",
        summary: `Within the last hour, some of the ${what} failed their last attempt.`,
        advice: page,
      },
    ],
    panels: [
      {
        title: `${name}: wait of the oldest`,
        unit: "s",
        queries: [{ expression: `max(${metric(`${prefix}_lag_seconds`)})`, legend: what }],
      },
      {
        title: `${name}: attempts that failed`,
        unit: "reqps",
        queries: [
          { expression: rate("failed_total"), legend: "failed" },
          { expression: rate("given_up_total"), legend: "given up" },
        ],
      },
    ],
  };
}
