// What the metrics of a service are read from, with gauges of single parts, such as what waits in the outbox.
import type { Connections } from "../http/connections.js";
import type { Gauges } from "../operations/family.js";
import type { ServiceConnection } from "./connect.js";
import { familiesOf, type FamilyParts } from "./families.js";
import type { MetricSources } from "./metrics.js";
import type { SignalCounters } from "../families/realtime/limits.js";
import type { RunningRealtime } from "./realtime.js";

/** The sources of a running service. */
export function sourcesOf(
  parts: FamilyParts,
  connection: ServiceConnection,
  {
    connections,
    readiness,
    realtime,
  }: Pick<MetricSources, "readiness"> & {
    readonly connections: Connections;
    readonly realtime: RunningRealtime | null;
  },
): MetricSources {
  return {
    engine: () => connection.database.state(),
    connections: () => connections.counts,
    answers: connection.answers,
    readiness,
    gauges: gaugesOf(parts, connection, realtime),
  };
}

/** The gauges of the families and of realtime, by their names in snake case. */
function gaugesOf(
  parts: FamilyParts,
  connection: ServiceConnection,
  realtime: RunningRealtime | null,
): Gauges {
  const { signals, ...counters } = realtime?.counters ?? { signals: {} };
  const ofRealtime = Object.keys(counters).map((name) => {
    const read = (): number =>
      (realtime?.counters as unknown as Readonly<Record<string, number>>)[name] ?? 0;
    return [`realtime_${snakeCase(name)}`, read] as const;
  });
  // Such as `realtime_websocket_signals_dropped`.
  const ofSignals = Object.entries(signals).flatMap(([transport, counts]) =>
    Object.keys(counts).map((name) => {
      const read = (): number => counts[name as keyof SignalCounters];
      return [`realtime_${transport}_signals_${name}`, read] as const;
    }),
  );
  const ofFamilies = familiesOf(parts).map(({ family, part }) => family.gauges(part, connection));
  return {
    ...Object.assign({}, ...ofFamilies),
    ...Object.fromEntries([...ofRealtime, ...ofSignals]),
  };
}

/** `turnedAway` → `turned_away`, as Prometheus names metrics. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
