// A write that nobody reads. It shows whether the database accepts writes.
import type { LeaseStore } from "../../ports/leases.js";
import { drawBytes } from "../../ports/ambient.js";

/**
 * Takes a lease that ends at once, always the same row, and notes so many random bytes in it, which
 * replace those of the last time: what doesn't change a page, SQLite doesn't write. Rejects if the
 * database refuses the write.
 */
export async function noteProbe(leases: LeaseStore, bytes: number): Promise<void> {
  await leases.take("readiness", "readiness", 0, 0);
  await leases.note("readiness", "readiness", drawBytes(bytes).toString("base64"));
}
