// Who is told what operations have committed for others to hear: a test, which looks at it.
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
  /** JSON. */
  readonly data: string;
  readonly tenant: string;
  readonly to: { readonly principals: readonly string[] } | SignalTarget;
}

/** Called after each commit, in order. Its methods must not throw. */
export interface Observer {
  event(event: CommittedEvent): void;
  /** An event that its own transaction has taken back. */
  withdrawn(eventId: string): void;
  signal(signal: CommittedSignal): void;
}

export const silentObserver: Observer = {
  event() {},
  withdrawn() {},
  signal() {},
};
