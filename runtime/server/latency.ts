// Latencies by operation and class of status, counted in buckets: a Prometheus histogram that is
// cheap enough to update with every request.
import type { Registry } from "prom-client";

/** The upper bounds in seconds: from what a read by key takes, to the usual deadline. */
const buckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30];

interface Series {
  readonly operation: string;
  readonly status: string;
  /** Requests per bucket; the last number counts those beyond all buckets. */
  readonly counts: number[];
  sum: number;
}

export class Latencies {
  /** By operation, then by the first digit of the status. */
  readonly #series = new Map<string, Map<number, Series>>();

  /** Counts a request that took so long. */
  observe(operation: string, statusCode: number, seconds: number): void {
    const series = this.#seriesOf(operation, Math.floor(statusCode / 100));
    let at = 0;
    while (at < buckets.length && seconds > (buckets[at] ?? 0)) at += 1;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += seconds;
  }

  #seriesOf(operation: string, digit: number): Series {
    let ofOperation = this.#series.get(operation);
    if (ofOperation === undefined) {
      ofOperation = new Map();
      this.#series.set(operation, ofOperation);
    }
    let series = ofOperation.get(digit);
    if (series === undefined) {
      const counts = Array.from({ length: buckets.length + 1 }, () => 0);
      series = { operation, status: `${digit}xx`, counts, sum: 0 };
      ofOperation.set(digit, series);
    }
    return series;
  }

  /** Adds these latencies to a registry, as a histogram. */
  register(registry: Registry, name: string, help: string): void {
    const metric = {
      name,
      help,
      type: "histogram",
      aggregator: "sum",
      get: async () => ({
        name,
        help,
        type: "histogram",
        aggregator: "sum",
        values: [...this.#series.values()]
          .flatMap((ofOperation) => [...ofOperation.values()])
          .flatMap((series) => valuesOf(name, series)),
      }),
      reset: () => this.#series.clear(),
    };
    // The library uses nothing else of a metric, but its types only allow its own classes.
    registry.registerMetric(metric as never);
  }
}

function valuesOf(name: string, { operation, status, counts, sum }: Series) {
  const labels = { operation, status };
  let count = 0;
  const cumulative = counts.map((inBucket, at) => {
    count += inBucket;
    const le = buckets[at] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...cumulative,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
