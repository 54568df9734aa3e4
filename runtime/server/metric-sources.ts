// What the metrics of a service are read from, with gauges of single parts, such as what waits in the outbox.
import type { Connections } from "../http/connections.js";
import type { Gauges } from "../operations/family.js";
import type { ServiceConnection } from "./connect.js";
import { familiesOf, type FamilyParts } from "./families.js";
import type { MetricSources } from "./metrics.js";
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
  const ofFamilies = familiesOf(parts).map(({ family, part }) => family.gauges(part, connection));
  return {
    ...Object.assign({}, ...ofFamilies),
    ...gaugesOfRealtime(realtime),
  };
}

function gaugesOfRealtime(realtime: RunningRealtime | null): Gauges {
  if (realtime === null) return {};
  const { signals, ...counters } = realtime.counters;
  const names = Object.keys(counters) as (keyof typeof counters)[];
  const single = names.map(
    (name) => [`realtime_${snakeCase(name)}`, () => realtime.counters[name]] as const,
  );
  // Such as `realtime_websocket_signals_dropped`.
  const ofSignals = Object.entries(signals).flatMap(([transport, counts]) =>
    (["delivered", "dropped", "gaps"] as const).map(
      (name) => [`realtime_${transport}_signals_${name}`, () => counts[name]] as const,
    ),
  );
  return Object.fromEntries([...single, ...ofSignals]);
}

/** `turnedAway` → `turned_away`, as Prometheus names metrics. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
