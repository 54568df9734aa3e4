// Metrics as parts of a service declare them: each is read when somebody asks (Prometheus "Metric
// types", "Metric naming").

/** One value of a metric that has labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The values of a metric: one, or one for each set of labels. */
export type MetricReading = number | readonly Sample[];

/** What only grows while the process runs. */
interface CounterDeclaration {
  readonly type: "counter";
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: () => MetricReading;
}

/** A value that goes up and down. If reading it fails, it has no value. */
interface GaugeDeclaration {
  readonly type: "gauge";
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: () => MetricReading | Promise<MetricReading>;
}

export type MetricDeclaration = CounterDeclaration | GaugeDeclaration;

/**
 * Metrics by their names, without the prefix `opwright_` and the `_total` of counters: both are
 * added where they are printed.
 */
export type DeclaredMetrics = Readonly<Record<string, MetricDeclaration>>;

/** Declares a counter, which is printed as `opwright_<name>_total`. */
export function counter(
  help: string,
  read: () => MetricReading,
  labels: readonly string[] = [],
): MetricDeclaration {
  return { type: "counter", help, labels, read };
}

/** Declares a gauge, which is printed as `opwright_<name>`. */
export function gauge(
  help: string,
  read: () => MetricReading | Promise<MetricReading>,
  labels: readonly string[] = [],
): MetricDeclaration {
  return { type: "gauge", help, labels, read };
}

/** The name under which a metric is printed. */
export function printedName(name: string, { type }: MetricDeclaration): string {
  return `opwright_${name}${type === "counter" ? "_total" : ""}`;
}
