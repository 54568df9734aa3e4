// Gauges of single parts of a service, such as what waits in the outbox; they are read when somebody asks for the metrics.
import type { Gauges } from "../operations/family.js";
import type { ServiceConnection } from "./connect.js";
import { familiesOf, type FamilyParts } from "./families.js";
import type { RunningRealtime } from "./realtime.js";

/** The gauges of the families and of realtime, by their names in snake case. */
export function gaugesOf(
  parts: FamilyParts,
  connection: ServiceConnection,
  realtime: RunningRealtime | null,
): Gauges {
  const names = Object.keys(realtime?.counters ?? {}) as (keyof RunningRealtime["counters"])[];
  const ofRealtime = names.map(
    (name) => [`realtime_${snakeCase(name)}`, () => realtime?.counters[name] ?? 0] as const,
  );
  const ofFamilies = familiesOf(parts).map(({ family, part }) => family.gauges(part, connection));
  return { ...Object.assign({}, ...ofFamilies), ...Object.fromEntries(ofRealtime) };
}

/** `turnedAway` → `turned_away`, as Prometheus names metrics. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
