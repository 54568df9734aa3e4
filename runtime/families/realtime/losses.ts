// What the bus has lost: nobody knows which signals on topics those were, so connections are told
// to look again (decisions.md §2: loss is never silent).
import type { Admitted } from "./admitted.js";
import type { RealtimeSpec } from "./spec.js";
import { drawFraction, startTimer } from "../../ports/ambient.js";

/**
 * Milliseconds between two announcements, so that not all clients look again at the same moment;
 * and all of them together.
 */
const pauseMillis = 5;
const spreadMillis = 5_000;

export interface Losses {
  /** Messages of other processes were lost: connections here are told. */
  announce(): void;
  /** A message of this process was lost on its way to the others. */
  hasLost(): void;
  /** Tells other processes of that. */
  tellOthers(): void;
  stop(): void;
}

/**
 * `send` tells other processes that something was lost; if that is lost as well, `hasLost` is
 * called again.
 */
export function announcedLosses(
  { events }: Pick<RealtimeSpec, "events">,
  admitted: ReadonlySet<Admitted>,
  send: () => void,
): Losses {
  /** Signals of the caller's own that are not kept may be lost as well. */
  const isOwn = Object.values(events).some(
    ({ audience, delivery }) => delivery === "ephemeral" && audience.includes("principal"),
  );
  const due = new Map<Admitted, NodeJS.Timeout>();
  let isUntold = false;
  return {
    announce() {
      const span = Math.min(admitted.size * pauseMillis, spreadMillis);
      for (const one of admitted) {
        const isConcerned = isOwn || one.subscriptions.topics.length > 0;
        if (!isConcerned || due.has(one)) continue;
        const tell = (): void => {
          due.delete(one);
          if (admitted.has(one)) one.ephemeral.lost();
        };
        due.set(one, startTimer(tell, drawFraction() * span).unref());
      }
    },
    hasLost() {
      isUntold = true;
    },
    tellOthers() {
      if (!isUntold) return;
      isUntold = false;
      send();
    },
    stop() {
      for (const timer of due.values()) clearTimeout(timer);
    },
  };
}
