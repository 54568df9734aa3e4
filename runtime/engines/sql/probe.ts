// A write that changes nothing anybody reads: whether a database takes writes is found out by one.
import type { LeaseStore } from "../../ports/leases.js";

/** Writes one row of the service's own, always the same one. */
export async function noteProbe(leases: LeaseStore): Promise<void> {
  await leases.take("readiness", "readiness", 0, 0);
}
