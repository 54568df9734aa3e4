// The periodic work of a service: what has run out is removed, by one process at a time and in batches.
import type { Resources } from "../operations/context.js";
import { expiredRates } from "../operations/database-rate-limiter.js";
import type { OutsideJob, PeriodicJob } from "../operations/periodic.js";
import { retentionJobs } from "../families/realtime/retention.js";
import type { ServiceDefinition } from "./service.js";

const hourMillis = 60 * 60 * 1_000;
/** What ended is kept for a day, so that its last use can still be told from one that never was. */
const endedFor = 24 * hourMillis;
/** Dead letters may hold secrets; who wants to redrive them has a week. */
const deadFor = 7 * 24 * hourMillis;
/** Rows, and uploads, that one batch removes. */
const batchSize = 1_000;
const uploadsAtOnce = 100;

/** The jobs of a service, by what it has. */
export function periodicJobs(
  { identity, outbox, realtime, storages = [] }: ServiceDefinition,
  { objects, uploadSeconds }: Pick<Resources, "objects" | "uploadSeconds">,
): readonly (PeriodicJob | OutsideJob)[] {
  const hourly = (name: string, batch: PeriodicJob["batch"]): PeriodicJob => ({
    name,
    everyMillis: hourMillis,
    batch,
  });
  return [
    expiredRates,
    hourly(
      "idempotency.expired",
      async ({ idempotency }) => (await idempotency.prune(Date.now(), batchSize)) === batchSize,
    ),
    ...(identity === undefined
      ? []
      : [
          hourly("identity.expired", async ({ identity: people, apiKeys }) => {
            const before = Date.now() - endedFor;
            const hasMore = await people.prune(before, batchSize);
            return (await apiKeys.prune(before, batchSize)) === batchSize || hasMore;
          }),
        ]),
    ...(outbox === undefined
      ? []
      : [
          hourly(
            "outbox.dead",
            async (stores) =>
              (await stores.outbox.prune(Date.now() - deadFor, batchSize)) === batchSize,
          ),
        ]),
    ...(realtime === undefined ? [] : retentionJobs(realtime)),
    // Uploads that did not end; an engine that is away holds up nothing else.
    ...storages.map((spec): OutsideJob => ({
      name: `uploads.${spec.name}`,
      everyMillis: hourMillis,
      step: async () =>
        (await objects.of(spec).sweep(`${spec.name}/`, uploadSeconds, uploadsAtOnce)) ===
        uploadsAtOnce,
    })),
  ];
}
