// What operations ask of the realtime plane of their process.
import type { Signal } from "./signal.js";

/** Who hears an ephemeral signal. */
export type SignalTarget = { readonly topic: string } | { readonly principal: string };

export interface SignalPlane {
  /** Called after a commit that staged something durable. */
  wake(): void;
  /** Sends to who is connected, at most once. */
  publish(tenant: string, to: SignalTarget, signal: Signal): void;
}
