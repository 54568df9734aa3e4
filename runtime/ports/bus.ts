// The port of the bus, over which the processes of one service tell each other what happens. It may
// lose any message, because mailboxes and cursors are the only state (decisions.md §2).

import type { CredentialScope, SignalTarget } from "./signals.js";

/** Who hears topics on one process. A seat is `[tenant, topic, principal]`. */
export type PresenceMessage = {
  readonly kind: "presence";
  /** The process that sends this. */
  readonly process: string;
} & (
  | {
      /**
       * These seats were taken (`here`), were left (`gone`), or are all that there are (`whole`).
       */
      readonly is: "here" | "gone" | "whole";
      readonly seats: readonly (readonly [string, string, string])[];
    }
  /** The process is alive, and has so many seats. */
  | { readonly is: "alive"; readonly size: number }
  /** It asks for all seats of one process, or of every process if `of` is null. */
  | { readonly is: "ask"; readonly of: string | null }
);

/** What one process tells the others. */
export type BusMessage =
  /** The newest positions of mailboxes: tenant, principal, position. */
  | {
      readonly kind: "positions";
      readonly mailboxes: readonly (readonly [string, string, number])[];
    }
  /** Some of these credentials or permissions have ended. */
  | { readonly kind: "ended"; readonly of: CredentialScope }
  /**
   * A device gave a sign of life. Its connection may be on another process than the one that
   * received the sign.
   */
  | {
      readonly kind: "sign";
      readonly tenant: string;
      readonly principalId: string;
      readonly device: string;
    }
  | PresenceMessage
  /** Messages of this process have been lost, ephemeral signals perhaps among them. */
  | { readonly kind: "lost" }
  /** An ephemeral signal; `data` is its JSON text. */
  | {
      readonly kind: "signal";
      readonly tenant: string;
      readonly to: SignalTarget;
      readonly name: string;
      readonly data: string;
      /** The shape in which the process sends it (operations/kept-values.ts). */
      readonly shape: string;
      /** What tells it from others; an older process doesn't say. */
      readonly signalId?: string;
      /** Where what has sent it was in a trace, as W3C `traceparent`. */
      readonly traceparent?: string;
    };

export interface BusListener {
  /** Called with each message of another process, in the order in which that process sent them. */
  heard(message: BusMessage): void;
  /**
   * Called when messages of this process were lost on their way to the others: ephemeral signals,
   * or a loss that was to be told.
   */
  lost(): void;
  /** Called when the bus is back after an interruption, whose messages are lost. */
  resumed(): void;
}

/** Whether the loss of a message is one that nothing else makes good. */
export function isLoss({ kind }: BusMessage): boolean {
  return kind === "signal" || kind === "lost";
}

export interface SignalBus {
  /** Sends a message to the other processes; returns at once and never throws. */
  send(message: BusMessage): void;
  /** From now on, `listener` gets what other processes send. */
  listen(listener: BusListener): void;
  /** Resolves if the bus is available; rejects if it isn't. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
