// The port of the bus: what the processes of one service tell each other. It may lose anything; mailboxes and cursors
// are the only state (decisions.md §2).

import type { CredentialScope, SignalTarget } from "./signals.js";

/** Who hears topics at one process, `[tenant, topic, principal]` each. */
export type PresenceMessage = {
  readonly kind: "presence";
  /** The process that tells. */
  readonly process: string;
} & (
  | {
      /** These have come, or have gone, or are all there are. */
      readonly is: "here" | "gone" | "whole";
      readonly seats: readonly (readonly [string, string, string])[];
    }
  /** It lives, and has this many. */
  | { readonly is: "alive"; readonly size: number }
  /** It wants to know of one process, or of all. */
  | { readonly is: "ask"; readonly of: string | null }
);

/** What one process tells the others. */
export type BusMessage =
  /** Mailboxes are this far: tenant, principal, position. */
  | {
      readonly kind: "positions";
      readonly mailboxes: readonly (readonly [string, string, number])[];
    }
  /** Credentials among these have ended. */
  | { readonly kind: "ended"; readonly of: CredentialScope }
  /** A device of a principal lives: the process that heard of it need not be the one that has its connection. */
  | {
      readonly kind: "sign";
      readonly tenant: string;
      readonly principalId: string;
      readonly device: string;
    }
  | PresenceMessage
  /** An ephemeral signal; `data` is its JSON text. */
  | {
      readonly kind: "signal";
      readonly tenant: string;
      readonly to: SignalTarget;
      readonly name: string;
      readonly data: string;
    };

export interface BusListener {
  /** A message of another process, in the order in which that process sent its own. */
  heard(message: BusMessage): void;
  /** The bus is there again; what was sent meanwhile is lost. */
  resumed(): void;
}

export interface SignalBus {
  /** Tells the other processes; returns at once and never fails. */
  send(message: BusMessage): void;
  /** Has what others send go here from now on. */
  listen(listener: BusListener): void;
  /** Resolves where the bus is there; rejects where it is not. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
