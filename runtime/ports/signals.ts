// What operations ask of the realtime plane of their process.
import type { Signal } from "./signal.js";

/** Who hears an ephemeral signal. */
export type SignalTarget = { readonly topic: string } | { readonly principal: string };

/** Whose credentials: all of a principal, or all in a tenant. */
export type CredentialScope = { readonly principalId: string } | { readonly tenant: string };

export interface SignalPlane {
  /** Called after a commit that staged something durable. */
  wake(): void;
  /** Called after a commit that ended credentials: connections that had them end at once, and not only when asked next. */
  credentialsEnded(of: CredentialScope): void;
  /** Sends to who is connected, at most once. */
  publish(tenant: string, to: SignalTarget, signal: Signal): void;
}
