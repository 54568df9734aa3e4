// What a run beside the hostile author has found.
import type { KindReport } from "./load.js";
import type { ProbeReport } from "./probe.js";

/** What the process takes, at one moment. */
export interface HostileSample {
  readonly minute: number;
  readonly mebibytes: number;
  readonly descriptors: number;
  readonly processor: number;
  /** Seconds that it was ready to run and had no core, so far. */
  readonly waited: number;
}

/** Milliseconds. */
export interface Lateness {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface HostileReport {
  readonly kinds: readonly KindReport[];
  readonly unexpected: readonly string[];
  readonly unexpectedCount: number;
  readonly restarts: number;
  /** Acknowledged and not there, or refused and there: notes by their keys, events by their numbers. */
  readonly lost: readonly string[];
  readonly phantoms: readonly string[];
  readonly acknowledged: { readonly notes: number; readonly events: number };
  /** Dead letters of the outbox, beside those that are owed; what is still pending. */
  readonly outbox: { readonly dead: number; readonly doomed: number; readonly pending: number };
  /** Deliveries of webhooks, by what became of them, beside how many were owed. */
  readonly webhooks: Readonly<Record<"owed" | "delivered" | "givenUp" | "pending", number>>;
  readonly livez: ProbeReport;
  /** How late timers of the service were, and how much of that it did not wait for a core; milliseconds. */
  readonly loop: Readonly<Record<"late" | "own", Lateness>>;
  readonly samples: readonly HostileSample[];
  /** The last lines of the service, where it has ended. */
  readonly ends: readonly string[];
}
