// The port of the realtime plane, the part of a process that delivers signals to its connections:
// what operations ask of it.
import type { Signal } from "./signal.js";

/** Who receives an ephemeral signal: everybody on a topic, or one principal. */
export type SignalTarget = { readonly topic: string } | { readonly principal: string };

/** Whose credentials or permissions: those of a principal, those in a tenant, or anybody's. */
export type CredentialScope =
  | { readonly principalId: string }
  | { readonly tenant: string }
  | { readonly everywhere: true };

export interface SignalPlane {
  /** Called after a commit that staged durable signals, so that they are delivered at once. */
  wake(): void;
  /**
   * Called after a commit that ended credentials or permissions: their connections and topics end
   * at once, not only at the next periodic check.
   */
  credentialsEnded(of: CredentialScope): void;
  /** Sends an ephemeral signal to those who are connected now, at most once. */
  publish(tenant: string, to: SignalTarget, signal: Signal): void;
}
