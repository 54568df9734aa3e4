// The port by which tests see what operations have committed for others: integration events and
// signals.
import type { SignalTarget } from "./signals.js";

/** An integration event whose transaction has committed. */
export interface CommittedEvent {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly tenant: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A signal whose transaction has committed: a durable one for principals, or an ephemeral one. */
export interface CommittedSignal {
  readonly name: string;
  /** JSON text. */
  readonly data: string;
  readonly tenant: string;
  readonly to: { readonly principals: readonly string[] } | SignalTarget;
}

/** Called after each commit, in order. Its methods must not throw. */
export interface Observer {
  event(event: CommittedEvent): void;
  /** Takes back an event that the same transaction staged: nothing is delivered for it. */
  withdrawn(eventId: string): void;
  signal(signal: CommittedSignal): void;
}

/** Ignores everything. */
export const silentObserver: Observer = {
  event() {},
  withdrawn() {},
  signal() {},
};
