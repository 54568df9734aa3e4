// Metrics as Prometheus reads them, and the few that the console draws.

export interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** The samples of a text in Prometheus' exposition format 0.0.4. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split("\n").flatMap((line) => {
    const found = /^([a-z_:][\w:]*)(\{.*\})? (\S+)$/i.exec(line);
    const [, name, labels = "", value] = found ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
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
  /** Whether anything but nothing is bad news. */
  readonly isTrouble: boolean;
}

/** Whether a line is trouble now. */
export function isBad({ isTrouble, values }: Line): boolean {
  return isTrouble && (values.at(-1) ?? 0) > 0;
}

/** Something to draw: the sum of samples, or how fast it grows. */
interface Drawn {
  readonly title: string;
  readonly unit: string;
  readonly name: string;
  readonly isRate?: boolean;
  readonly isTrouble?: boolean;
  readonly scale?: number;
}

const drawn: readonly Drawn[] = [
  {
    title: "Errors",
    unit: "a second",
    name: "opwright_errors_total",
    isRate: true,
    isTrouble: true,
  },
  { title: "Dead letters", unit: "given up", name: "opwright_outbox_dead", isTrouble: true },
  { title: "Requests", unit: "a second", name: "opwright_request_seconds_count", isRate: true },
  { title: "Connections", unit: "open", name: "opwright_connections_open" },
  { title: "Database reads", unit: "running", name: "opwright_reads_running" },
  { title: "Database writes", unit: "running", name: "opwright_writes_running" },
  { title: "Reads in line", unit: "waiting", name: "opwright_reads_waiting" },
  { title: "Outbox", unit: "events waiting", name: "opwright_outbox_pending" },
  { title: "Webhooks", unit: "deliveries waiting", name: "opwright_webhooks_pending" },
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
  return drawn.flatMap(({ title, unit, name, isRate = false, isTrouble = false, scale = 1 }) => {
    const sums = readings.map(({ at, samples }) => {
      const own = samples.filter((one) => one.name === name);
      return { at, sum: own.length === 0 ? null : own.reduce((sum, one) => sum + one.value, 0) };
    });
    if (sums.every(({ sum }) => sum === null) && !isRate) return [];
    const values = isRate ? ratesOf(sums) : sums.map(({ sum }) => (sum ?? 0) * scale);
    return [{ title, unit, values, isTrouble }];
  });
}

/** How fast a counter grows a second, from each reading to the next. */
function ratesOf(sums: readonly { readonly at: number; readonly sum: number | null }[]) {
  return sums.slice(1).map(({ at, sum }, index) => {
    const before = sums[index];
    const grown = (sum ?? 0) - (before?.sum ?? 0);
    return Math.max(0, grown / ((at - (before?.at ?? 0)) / 1_000));
  });
}
