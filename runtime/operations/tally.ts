// What the background work of a process has counted since it started, for metrics.
import type { Gauges, ServiceAtWork } from "./family.js";

const counted = new WeakMap<ServiceAtWork, Map<string, number>>();

/** Counts one more under the name of a metric. */
export function tally(service: ServiceAtWork, name: string): void {
  const counts = countsOf(service);
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The metrics of these names. */
export function tallies(service: ServiceAtWork, names: readonly string[]): Gauges {
  const counts = countsOf(service);
  return Object.fromEntries(names.map((name) => [name, () => counts.get(name) ?? 0]));
}

function countsOf(service: ServiceAtWork): Map<string, number> {
  const counts = counted.get(service) ?? new Map<string, number>();
  counted.set(service, counts);
  return counts;
}
