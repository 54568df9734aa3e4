// What a process has counted of deliveries since it started, for metrics.
import type { ServiceAtWork } from "../../operations/family.js";

export interface DeliveryCounts {
  delivered: number;
  /** Attempts that failed. */
  failed: number;
  /** Deliveries that were given up. */
  givenUp: number;
  /** Deliveries whose owner may not hear their event. */
  refused: number;
}

const counts = new WeakMap<ServiceAtWork, DeliveryCounts>();

/** The counts of a service at work, which its deliverer adds to. */
export function countsOf(service: ServiceAtWork): DeliveryCounts {
  const known = counts.get(service) ?? { delivered: 0, failed: 0, givenUp: 0, refused: 0 };
  counts.set(service, known);
  return known;
}
