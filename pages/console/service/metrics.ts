// Metrics as Prometheus reads them, and the few that the console draws.
import { quantileOf, type Bucket } from "./quantile.js";

export interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/**
 * The samples of a text in Prometheus' exposition format 0.0.4, summed over operations: a large
 * service has tens of thousands, and readings are kept. The console's own requests don't count.
 */
export function samplesOf(text: string): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const line of text.split("\n")) {
    const found = /^([a-z_:][\w:]*)(\{.*\})? (\S+)$/i.exec(line);
    const [, name, given = "", value] = found ?? [];
    if (name === undefined || given.includes('operation="console.')) continue;
    const labels = given.replace(/operation="[^"]*",?/, "");
    const key = name + labels;
    sums.set(key, { name, labels, value: Number(value) + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
}

/** What is read at one moment. */
export interface Reading {
  /** Milliseconds. */
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** A line that is drawn over time. */
export interface Line {
  readonly title: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** What the value can't exceed; null where there is no such bound. */
  readonly limit: number | null;
  /** Whether somebody has to look after it. */
  readonly isBad: boolean;
}

/** How a line is made of samples: their sum, how fast it grows, or a time that few exceed. */
interface Drawn {
  readonly title: string;
  readonly unit: string;
  readonly name: string;
  readonly kind?: "sum" | "rate" | "p95";
  /** Labels that samples must have. */
  readonly where?: string;
  /** The metric that bounds it. */
  readonly limit?: string;
  /** Whether anything but nothing is bad news. */
  readonly isTrouble?: boolean;
  readonly scale?: number;
}

const requests = "opwright_request_seconds";

const drawn: readonly Drawn[] = [
  {
    title: "Server errors",
    unit: "a second (5xx)",
    name: `${requests}_count`,
    kind: "rate",
    where: 'status="5xx"',
    isTrouble: true,
  },
  { title: "Dead letters", unit: "given up", name: "opwright_outbox_dead", isTrouble: true },
  { title: "Requests", unit: "a second", name: `${requests}_count`, kind: "rate" },
  {
    title: "Refused",
    unit: "a second (4xx)",
    name: `${requests}_count`,
    kind: "rate",
    where: 'status="4xx"',
  },
  {
    title: "Latency",
    unit: "ms for 95 % of requests",
    name: `${requests}_bucket`,
    kind: "p95",
    scale: 1_000,
  },
  { title: "Connections", unit: "open", name: "opwright_connections_open" },
  {
    title: "Database reads",
    unit: "running",
    name: "opwright_reads_running",
    limit: "opwright_reads_limit",
  },
  {
    title: "Database writes",
    unit: "running",
    name: "opwright_writes_running",
    limit: "opwright_writes_limit",
  },
  { title: "Reads in line", unit: "waiting", name: "opwright_reads_waiting" },
  { title: "Outbox", unit: "events waiting", name: "opwright_outbox_pending" },
  { title: "Webhooks", unit: "deliveries waiting", name: "opwright_webhooks_pending" },
  {
    title: "Given up",
    unit: "deliveries since the start",
    name: "opwright_webhooks_given_up_total",
  },
  { title: "Realtime", unit: "connections", name: "opwright_realtime_connections" },
  { title: "Rows to rewrite", unit: "of older versions", name: "opwright_rows_to_renew" },
  { title: "Older versions", unit: "processes", name: "opwright_older_processes" },
  { title: "Memory", unit: "MB", name: "process_resident_memory_bytes", scale: 1e-6 },
  {
    title: "Event loop",
    unit: "ms of lag",
    name: "nodejs_eventloop_lag_mean_seconds",
    scale: 1_000,
  },
];

/** The lines of what has been read, the oldest reading first; of what the service has. */
export function linesOf(readings: readonly Reading[]): readonly Line[] {
  return drawn.flatMap((one) => {
    const { title, unit, name, kind = "sum", scale = 1, isTrouble = false, limit } = one;
    const found = readings.map(({ at, samples }) => ({ at, samples: wantedOf(one, samples) }));
    const isKnown = readings.some(({ samples }) => samples.some((each) => each.name === name));
    if (!isKnown && kind === "sum") return [];
    const values = { sum: sumsOf, rate: ratesOf, p95: slowestOf }[kind](found);
    // What has happened is over at once; a state is what it is now.
    const telling = kind === "rate" ? values : values.slice(-1);
    return {
      title,
      unit,
      values: values.map((value) => value * scale),
      limit: limit === undefined ? null : valueOf(readings.at(-1), limit),
      isBad: isTrouble && telling.some((value) => value > 0),
    };
  });
}

/** The samples of a name whose labels have a text. */
function wantedOf(
  { name, where = "" }: Pick<Drawn, "name" | "where">,
  samples: readonly Sample[],
): readonly Sample[] {
  return samples.filter((one) => one.name === name && one.labels.includes(where));
}

/** The value of a metric, over all its labels; null if the service has none of that name. */
export function valueOf(reading: Reading | undefined, name: string, where = ""): number | null {
  const own = wantedOf({ name, where }, reading?.samples ?? []);
  return own.length === 0 ? null : sumOf(own);
}

function sumOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0);
}

function sumsOf(readings: readonly Reading[]): readonly number[] {
  return readings.map(({ samples }) => sumOf(samples));
}

/** How fast a counter grows a second, from each reading to the next. */
function ratesOf(readings: readonly Reading[]): readonly number[] {
  return readings.slice(1).map(({ at, samples }, index) => {
    const before = readings[index];
    const grown = sumOf(samples) - sumOf(before?.samples ?? []);
    return Math.max(0, grown / ((at - (before?.at ?? 0)) / 1_000));
  });
}

/** Seconds within which 95 % of the requests between two readings were answered; 0 for none. */
function slowestOf(readings: readonly Reading[]): readonly number[] {
  return readings.slice(1).map(({ samples }, index) => {
    const before = countsOf(readings[index]?.samples ?? []);
    const grown = [...countsOf(samples)].map(([bound, count]): Bucket => ({
      bound,
      count: count - (before.get(bound) ?? 0),
    }));
    return quantileOf(grown, 0.95);
  });
}

/** The counts of a histogram by the upper bounds of its buckets, over all other labels. */
function countsOf(samples: readonly Sample[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { labels, value } of samples) {
    const [, text = "+Inf"] = /le="([^"]+)"/.exec(labels) ?? [];
    const bound = text === "+Inf" ? Infinity : Number(text);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}
