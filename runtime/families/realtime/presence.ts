// Who hears a topic: the principals that are connected to any process of the service (decisions.md
// §2 "Presence").
import { uuidv7 } from "../../ports/uuid.js";
import type { PresenceMessage } from "../../ports/bus.js";
import type { HubMember } from "./hub.js";
import {
  keyOf,
  seatOf,
  shownTopics,
  type Occupants,
  type Seat,
  type TellPresence,
} from "./presence-topics.js";
import { monotonicMillis, startInterval, startTimer } from "../../ports/ambient.js";

/**
 * How often processes say that they are alive, and after how long without that they count as gone.
 */
const aliveMillis = 10_000;
const silentMillis = 35_000;
/** Changes of so many milliseconds are one message to the other processes. */
const gatherMillis = 20;

export interface Presence {
  /** A connection hears a topic from now on, and is told who else does. */
  enter(seat: Seat, connection: HubMember): void;
  /** A connection that had entered hears the topic no longer. */
  leave(seat: Seat, connection: HubMember): void;
  /** A connection may have missed changes: it is told all members again. */
  again(tenant: string, topic: string, connection: HubMember): void;
  /**
   * Up to `limit` principals on a topic after one of them, in the order of their ids, and how many
   * there are in all.
   */
  page(tenant: string, topic: string, after: string, limit: number): Occupants;
  /** Takes a message of another process. */
  heard(message: PresenceMessage): void;
  /**
   * Tells other processes who is here, and asks who is there: at the start, and when the bus is
   * back.
   */
  announce(): void;
  stop(): void;
}

/**
 * Tells everybody who hears a topic here who comes and goes. `send` reaches the other processes.
 */
export function startPresence(
  publish: TellPresence,
  send: (message: PresenceMessage) => void,
): Presence {
  const self = uuidv7();
  /** Connections here by seat. */
  const here = new Map<string, number>();
  const there = new Map<string, { seats: Set<string>; heardAt: number }>();
  const isPresent = (key: string): boolean =>
    here.has(key) || [...there.values()].some(({ seats }) => seats.has(key));
  const shown = shownTopics(publish, isPresent);
  const others = gatheredMoves((is, seats) => send({ kind: "presence", process: self, is, seats }));
  const whole = (): void => {
    others.forget();
    send({ kind: "presence", process: self, is: "whole", seats: [...here.keys()].map(seatOf) });
  };

  const timer = startInterval(() => {
    others.flush();
    send({ kind: "presence", process: self, is: "alive", size: here.size });
    shown.look(seatsOfSilent(there));
  }, aliveMillis).unref();

  return {
    enter(seat, connection) {
      const [tenant, topic] = seat;
      const key = keyOf(seat);
      const before = here.get(key) ?? 0;
      here.set(key, before + 1);
      if (before === 0) others.moved(key, "here");
      shown.look([key]);
      shown.greet(tenant, topic, connection);
    },

    leave(seat, connection) {
      const [tenant, topic] = seat;
      const key = keyOf(seat);
      shown.dismiss(tenant, topic, connection);
      const left = (here.get(key) ?? 1) - 1;
      if (left > 0) return void here.set(key, left);
      here.delete(key);
      others.moved(key, "gone");
      shown.look([key]);
    },

    again: shown.greet,
    page: shown.page,

    heard(message) {
      const other = there.get(message.process) ?? { seats: new Set<string>(), heardAt: 0 };
      there.set(message.process, other);
      other.heardAt = monotonicMillis();
      switch (message.is) {
        case "ask":
          if (message.of === null || message.of === self) whole();
          return;
        case "alive":
          // A message was lost on the way.
          if (message.size !== other.seats.size)
            send({ kind: "presence", process: self, is: "ask", of: message.process });
          return;
        case "here":
        case "gone": {
          const keys = message.seats.map(keyOf);
          for (const key of keys) other.seats[message.is === "here" ? "add" : "delete"](key);
          shown.look(keys);
          return;
        }
        case "whole": {
          const before = other.seats;
          other.seats = new Set(message.seats.map(keyOf));
          shown.look(new Set([...before, ...other.seats]));
        }
      }
    },

    announce() {
      whole();
      send({ kind: "presence", process: self, is: "ask", of: null });
    },

    stop() {
      clearInterval(timer);
      shown.stop();
      others.forget();
      send({ kind: "presence", process: self, is: "whole", seats: [] });
    },
  };
}

/** Forgets processes that have been silent for too long; returns the seats that they had. */
function seatsOfSilent(
  there: Map<string, { readonly seats: ReadonlySet<string>; readonly heardAt: number }>,
): readonly string[] {
  const gone: string[] = [];
  for (const [one, { seats, heardAt }] of there) {
    if (monotonicMillis() - heardAt <= silentMillis) continue;
    there.delete(one);
    gone.push(...seats);
  }
  return gone;
}

type Move = "here" | "gone";

/**
 * What other processes are to be told: however many come and go in a moment, that is two messages.
 */
interface GatheredMoves {
  moved(key: string, is: Move): void;
  /** Tells what waits, now. */
  flush(): void;
  /** What waits needs no telling any more. */
  forget(): void;
}

function gatheredMoves(send: (is: Move, seats: readonly Seat[]) => void): GatheredMoves {
  let moves = new Map<string, Move>();
  let timer: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(timer);
    timer = undefined;
    moves = new Map();
  };
  const flush = (): void => {
    const telling = [...moves];
    forget();
    for (const is of ["here", "gone"] as const) {
      const seats = telling.filter(([, move]) => move === is).map(([key]) => seatOf(key));
      if (seats.length > 0) send(is, seats);
    }
  };
  return {
    moved(key, is) {
      moves.set(key, is);
      timer ??= startTimer(flush, gatherMillis).unref();
    },
    flush,
    forget,
  };
}
