// Counts of a process's background work since it started, for metrics.
import type { ServiceAtWork } from "./family.js";
import { counter, type DeclaredMetrics } from "./metric.js";

const counted = new WeakMap<ServiceAtWork, Map<string, number>>();

/** Counts one more under the name of a counter. */
export function tally(service: ServiceAtWork, name: string): void {
  const counts = countsOf(service);
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The counters of these names, each with its help. */
export function tallies(
  service: ServiceAtWork,
  helps: Readonly<Record<string, string>>,
): DeclaredMetrics {
  const counts = countsOf(service);
  return Object.fromEntries(
    Object.entries(helps).map(([name, help]) => [name, counter(help, () => counts.get(name) ?? 0)]),
  );
}

function countsOf(service: ServiceAtWork): Map<string, number> {
  const counts = counted.get(service) ?? new Map<string, number>();
  counted.set(service, counts);
  return counts;
}
