// The family of realtime: signals and commands. Its connections are transports (http/), which the
// server starts.
import { familyOf } from "../../operations/family.js";
import { gauge } from "../../operations/metric.js";
import { mailboxStore } from "../../ports/mailbox.js";
import { exportMailboxes } from "./exported.js";
import { retentionJobs } from "./retention.js";
import { readRealtimeLimits } from "./settings.js";
import type { RealtimeSpec } from "./spec.js";

export const realtimeFamily = familyOf<RealtimeSpec>()({
  member: "realtime",
  settings: (_spec, source) => readRealtimeLimits(source),
  jobs: retentionJobs,
  erased: async (_spec, context, { principalId }) => ({
    mailboxes: await context.transact((transaction) =>
      transaction.of(mailboxStore).removeOf(principalId),
    ),
  }),
  exported: exportMailboxes,
  metrics: (_spec, { clock, database }) => ({
    signals_lag_seconds: gauge(
      "How long the oldest durable signal has waited for its mailboxes.",
      async () => (await database.reader.of(mailboxStore).stagedLag(clock.now())) / 1000,
    ),
  }),
});
