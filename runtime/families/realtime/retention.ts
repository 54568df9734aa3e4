// What retention removes from mailboxes, as periodic work (decisions.md §2).
import type { Resources } from "../../operations/resources.js";
import type { PeriodicJob } from "../../work/periodic.js";
import type { RealtimeSpec } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Rows that one batch removes, or looks at. */
const batchSize = 1_000;

/** The jobs of a realtime plane: one process does each at a time. */
export function retentionJobs(
  {
    retentionSeconds,
    retentionEntries,
  }: Pick<RealtimeSpec, "retentionSeconds" | "retentionEntries">,
  { clock }: Pick<Resources, "clock">,
): readonly PeriodicJob[] {
  const keptSince = (): number => clock.now() - retentionSeconds * 1000;
  return [
    {
      name: "realtime.trim",
      everyMillis: 60_000,
      async batch(transaction) {
        const mailbox = transaction.of(mailboxStore);
        const before = keptSince();
        if ((await mailbox.trim(before, retentionEntries, batchSize)) > 0) return true;
        // Their entries have gone by now.
        return (await mailbox.pruneSignals(before, batchSize)) === batchSize;
      },
    },
    {
      name: "realtime.cursors",
      everyMillis: 10 * 60_000,
      batch: async (transaction) =>
        (await transaction.of(mailboxStore).pruneCursors(keptSince(), clock.now(), batchSize)) ===
        batchSize,
    },
  ];
}
