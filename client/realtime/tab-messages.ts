// What tabs that share a line tell each other.
import type { Heard } from "./place.js";
import type { Command, Ending } from "./port.js";

/** The time in which one tab leads. A tab that took over from another has the later term. */
export interface Reign {
  readonly term: number;
  readonly tab: string;
}

/** Messages of the leading tab, which name it: a tab that stood still may not know the new one. */
type OfLeader =
  | { readonly kind: "leading" }
  /** The answer to `ask`. */
  | { readonly kind: "beat" }
  /**
   * A line has been made, or was there when `tab` joined; these topics are heard over it, behind
   * the signal `last`, and `presence` is that of the tab's topics.
   */
  | {
      readonly kind: "opened";
      readonly topics: readonly string[];
      readonly last: string;
      readonly presence: readonly Heard[];
      readonly tab?: string;
    }
  | { readonly kind: "signal"; readonly signal: Heard }
  /** The line hears less than before. */
  | { readonly kind: "room" }
  /** The line has ended for all, or what `tab` wants to hear is not granted. */
  | { readonly kind: "ended"; readonly ending: Ending; readonly tab?: string }
  | {
      readonly kind: "answer";
      readonly tab: string;
      readonly cid: number;
      readonly data?: unknown;
      readonly error?: object;
    };

/** `tab` is whom it is for, or whom it comes from. */
export type Message =
  | (OfLeader & { readonly reign: Reign })
  /** Is there anybody who leads? */
  | { readonly kind: "ask" }
  /** `isHeld`: the tab has a lock of its own for as long as it lives. */
  | {
      readonly kind: "join";
      readonly tab: string;
      readonly topics: readonly string[];
      readonly isHeld?: boolean;
    }
  | { readonly kind: "leave"; readonly tab: string }
  | {
      readonly kind: "command";
      readonly tab: string;
      readonly cid: number;
      /** In milliseconds since 1970: later, nobody waits for the answer of this tab. */
      readonly until: number;
      /** The payload as JSON, as it travels on: not all that JSON takes can be cloned. */
      readonly command: Pick<Command, "name" | "idempotencyKey" | "millis"> & {
        readonly json: string | undefined;
      };
    };

/**
 * How long a command may lie before the leading tab sends it: less than it takes until another tab
 * leads.
 */
export const commandFreshMillis = 2_500;

/** Whether another tab leads than the known one: of two with one term, the sender. */
export function isNewer(
  reign: Reign,
  known: Reign,
  kind: Message["kind"],
  isLeading: boolean,
): boolean {
  if (reign.term !== known.term) return reign.term > known.term;
  return !isLeading && ["leading", "beat", "opened"].includes(kind);
}
