// A write that nobody reads. It shows whether the database accepts writes.
import type { LeaseStore } from "../../ports/leases.js";

/** Takes a lease that ends at once, always the same row. Rejects if the database refuses the write. */
export async function noteProbe(leases: LeaseStore): Promise<void> {
  await leases.take("readiness", "readiness", 0, 0);
}
