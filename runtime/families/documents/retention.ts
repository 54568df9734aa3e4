// What of documents goes by itself: those that have been deleted for long, and revisions that are
// more than are kept.
import { ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { hourly, type ServiceAtWork } from "../../operations/family.js";
import type { OutsideJob, PeriodicJob } from "../../work/periodic.js";
import { historyStore, type DeletedPosition } from "../../ports/document-history.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { Lifetime } from "../../ports/lifetime.js";
import { followChange } from "./follow-change.js";
import { releaseReferrers } from "./departures.js";

/** Documents that one step removes, each in a transaction of its own. */
const documentsAtOnce = 50;
/** How long one of them may take with what goes along, in milliseconds. */
const patienceMillis = 10_000;
/** Documents that one batch looks at, and revisions that it removes. */
const revisionsAtOnce = 500;
const hourMillis = 3_600_000;
/** Whose turn it is to note how far the revisions are: whoever does the batch. */
const holder = "revisions";

/** The jobs of a service's documents. */
export function retentionJobs(
  documents: readonly AnyDocumentSpec[],
  service: ServiceAtWork,
): readonly (PeriodicJob | OutsideJob)[] {
  return documents.flatMap((spec) => [
    ...(spec.deletedForSeconds === undefined
      ? []
      : [deletedJob(spec, spec.deletedForSeconds, service)]),
    ...(spec.history === null || spec.history === 0
      ? []
      : [revisionsJob(spec, spec.history, service)]),
  ]);
}

/**
 * Removes what has been deleted for so long. What may not go is passed over until the next time.
 */
function deletedJob(spec: AnyDocumentSpec, seconds: number, service: ServiceAtWork): OutsideJob {
  let after: DeletedPosition | null = null;
  return {
    name: `documents.${spec.table}.deleted`,
    everyMillis: hourMillis,
    async step() {
      const until = new Date(service.clock.now() - seconds * 1000).toISOString();
      const store = service.database.reader.of(historyStore);
      const found = await store.deletedUntil(spec, until, after, documentsAtOnce);
      let held = 0;
      for (const { tenant, id } of found) {
        const owner = spec.tenant ? tenant : undefined;
        const lifetime = Lifetime.within(patienceMillis);
        const context = service.context(`${spec.name}.retention`, owner, lifetime);
        await removeExpired(spec, context, id, until).catch((error: unknown) => {
          // Other faults are the next time's as well, and hold up nothing else.
          if (!(error instanceof ServiceError)) throw error;
          if (error.code === "reference_in_use") held += 1;
          else
            service.log.warn(
              { id, code: error.code },
              `one of the ${spec.name} could not be removed`,
            );
        });
      }
      if (held > 0)
        service.log.info({ held }, `${spec.name} are kept until those that refer to them are gone`);
      const last = found.at(-1);
      after = last === undefined || found.length < documentsAtOnce ? null : last;
      return after !== null;
    },
  };
}

/**
 * Removes a document that is still deleted, as `kill` does: its revisions, its words, and what goes
 * along with it.
 */
function removeExpired(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  until: string,
): Promise<void> {
  return context.transact(async (transaction) => {
    const documents = transaction.of(documentStore);
    if (spec.referredBy !== undefined) await documents.seize(spec, context.tenant, id);
    const current = await documents.get(spec, context.tenant, id);
    if (current === null || !current.isDeleted || current.lastUpdateAt > until) return;
    if (!(await documents.remove(spec, context.tenant, id, current.rev))) return;
    await releaseReferrers(spec, context, current, "kill");
    await followChange(spec, context, "kill", current);
  });
}

/** How far the walk over the documents of a type is, for a number that is kept. */
interface Progress {
  readonly keep: number;
  readonly after: readonly (string | number)[];
  readonly isDone: boolean;
}

/** Writes keep to the number by themselves, so documents are walked over once for each number. */
function revisionsJob(
  spec: AnyDocumentSpec,
  keep: number,
  { clock }: Pick<ServiceAtWork, "clock">,
): PeriodicJob {
  const name = `revisions.${spec.table}`;
  return hourly(`documents.${spec.table}.revisions`, async (transaction) => {
    const { leases } = transaction;
    const now = clock.now();
    const lease = await leases.take(name, holder, now, now + hourMillis);
    // The lease's value was noted here.
    const noted = lease?.state == null ? null : (JSON.parse(lease.state) as Progress);
    const isOurs = noted?.keep === keep;
    if (isOurs && noted.isDone) return false;
    const store = transaction.of(historyStore);
    const { next } = await store.trim(spec, keep, isOurs ? noted.after : [], revisionsAtOnce);
    const progress: Progress = { keep, after: next ?? [], isDone: next === null };
    await leases.note(name, holder, JSON.stringify(progress));
    return next !== null;
  });
}
