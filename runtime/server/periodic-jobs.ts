// The periodic work of a service, such as removing what has expired. One process at a time does it,
// in batches.
import { expiredRates } from "../operations/database-rate-limiter.js";
import { hourly, type ServiceAtWork } from "../operations/family.js";
import type { OutsideJob, PeriodicJob } from "../work/periodic.js";
import { familiesOf, type FamilyParts } from "../families.js";

/** Rows that one batch removes. */
const batchSize = 1_000;

/** The jobs of a service: its own, and those of its families. */
export function periodicJobs(
  parts: FamilyParts,
  service: ServiceAtWork,
): readonly (PeriodicJob | OutsideJob)[] {
  return [
    expiredRates,
    hourly(
      "idempotency.expired",
      async ({ idempotency }) =>
        (await idempotency.prune(service.clock.now(), batchSize)) === batchSize,
    ),
    ...familiesOf(parts).flatMap(({ family, part }) => family.jobs(part, service)),
  ];
}
