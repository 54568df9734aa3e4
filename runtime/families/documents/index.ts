// The family of documents: its processes announce themselves, and bring up rows of older shapes
// once no older process is left.
import { familyOf } from "../../operations/family.js";
import { gauge } from "../../operations/metric.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { announce, olderProcesses } from "./announcement.js";
import { dataOfDocuments } from "./data.js";
import { eraseOwned } from "./erase.js";
import { exportOwned } from "./exported.js";
import { renewalJob, rowsToRenew } from "./renewal.js";
import { renewAll } from "./renew-rows.js";
import { retentionJobs } from "./retention.js";

export const documentsFamily = familyOf<readonly AnyDocumentSpec[]>()({
  member: "documents",
  tables: (documents) => documents.map(({ table }) => table),
  jobs: (documents, service) => [
    ...changedShapes(documents).map((spec) => renewalJob(spec, service.log)),
    ...retentionJobs(documents, service),
  ],
  migrated: (documents, database, options) => renewAll(database, changedShapes(documents), options),
  erased: eraseOwned,
  exported: exportOwned,
  data: dataOfDocuments,
  start: (documents, service) => announce(documents, service),
  metrics: (documents, { database }) => ({
    rows_to_renew: gauge("Rows of changed types that are left to check, roughly.", () =>
      rowsToRenew(database.reader, changedShapes(documents)),
    ),
    older_processes: gauge("Running processes of older versions.", async () => {
      const { leases } = database.reader;
      const older = await Promise.all(
        changedShapes(documents).map((spec) => olderProcesses(leases, spec)),
      );
      return new Set(older.flat().map(({ host, pid }) => `${host} ${pid}`)).size;
    }),
  }),
});

/** Types that have had other shapes. */
function changedShapes(documents: readonly AnyDocumentSpec[]): readonly AnyDocumentSpec[] {
  return documents.filter(({ shape }) => shape.steps.length > 0);
}
