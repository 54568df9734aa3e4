// Who hears a topic: the principals that are connected to any process of the service (decisions.md §2 "Presence").
import { uuidv7 } from "../../contract/uuid.js";
import type { PresenceMessage } from "../../ports/bus.js";
import { Signal } from "../../ports/signal.js";

/** Milliseconds before others learn that somebody has gone, because most broken connections come back. */
const lingerMillis = 2_000;
/** How often processes say that they are alive, and after how long without that they count as gone. */
const aliveMillis = 10_000;
const silentMillis = 35_000;
/** Principals that one snapshot names. */
const maxNamed = 1_000;

/** A principal on a topic of a tenant. */
export type Seat = readonly [tenant: string, topic: string, principalId: string];

export interface Presence {
  /** A connection of a principal hears topics from now on; returns what ends that. */
  enter(seats: readonly Seat[]): () => void;
  /** `realtime.presence`: who is on a topic now. */
  snapshot(tenant: string, topic: string): Signal;
  /** Takes a message of another process. */
  heard(message: PresenceMessage): void;
  /** Tells other processes who is here, and asks who is there: at the start, and when the bus is back. */
  announce(): void;
  stop(): void;
}

/** Publishes `realtime.joined` and `realtime.left` to everybody who hears a topic here. `send` reaches the other processes. */
export function startPresence(
  publish: (tenant: string, topic: string, signal: Signal) => void,
  send: (message: PresenceMessage) => void,
): Presence {
  const self = uuidv7();
  /** Connections here by seat. */
  const here = new Map<string, number>();
  const there = new Map<string, { seats: Set<string>; heardAt: number }>();
  const isPresent = (key: string): boolean =>
    here.has(key) || [...there.values()].some(({ seats }) => seats.has(key));
  const shown = shownSeats(publish, isPresent);
  const whole = (): void =>
    send({ kind: "presence", process: self, is: "whole", seats: [...here.keys()].map(seatOf) });
  const forget = (one: string): void => {
    const gone = there.get(one)?.seats ?? [];
    there.delete(one);
    shown.look(gone);
  };

  const timer = setInterval(() => {
    send({ kind: "presence", process: self, is: "alive", size: here.size });
    for (const [one, { heardAt }] of there)
      if (performance.now() - heardAt > silentMillis) forget(one);
  }, aliveMillis).unref();

  return {
    enter(seats) {
      const keys = seats.map(keyOf);
      const first = keys.filter((key) => !here.has(key));
      for (const key of keys) here.set(key, (here.get(key) ?? 0) + 1);
      if (first.length > 0)
        send({ kind: "presence", process: self, is: "here", seats: first.map(seatOf) });
      shown.look(first);
      return () => {
        const last = keys.filter((key) => here.get(key) === 1);
        for (const key of keys) here.set(key, (here.get(key) ?? 1) - 1);
        for (const key of last) here.delete(key);
        if (last.length > 0)
          send({ kind: "presence", process: self, is: "gone", seats: last.map(seatOf) });
        shown.look(last);
      };
    },

    snapshot: shown.snapshot,

    heard(message) {
      const other = there.get(message.process) ?? { seats: new Set<string>(), heardAt: 0 };
      there.set(message.process, other);
      other.heardAt = performance.now();
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
      send({ kind: "presence", process: self, is: "whole", seats: [] });
    },
  };
}

const keyOf = (seat: Seat): string => JSON.stringify(seat);
const seatOf = (key: string): Seat => JSON.parse(key) as Seat;
const topicKey = (tenant: string, topic: string): string => JSON.stringify([tenant, topic]);

/** Who counts as present. */
interface ShownSeats {
  /** Announces those who have come; those who have gone count for a while longer. */
  look(keys: Iterable<string>): void;
  snapshot(tenant: string, topic: string): Signal;
  stop(): void;
}

function shownSeats(
  publish: (tenant: string, topic: string, signal: Signal) => void,
  isPresent: (key: string) => boolean,
): ShownSeats {
  /** Principals by topic. */
  const shown = new Map<string, Set<string>>();
  const lingering = new Map<string, NodeJS.Timeout>();
  const tell = (name: string, [tenant, topic, principal]: Seat, count: number): void =>
    publish(tenant, topic, new Signal(name, JSON.stringify({ topic, principal, count }), null));
  const join = (key: string): void => {
    clearTimeout(lingering.get(key));
    lingering.delete(key);
    const seat = seatOf(key);
    const [tenant, topic, principal] = seat;
    const present = shown.get(topicKey(tenant, topic)) ?? new Set();
    if (present.has(principal)) return;
    shown.set(topicKey(tenant, topic), present.add(principal));
    tell("realtime.joined", seat, present.size);
  };
  const leave = (key: string): void => {
    lingering.delete(key);
    const seat = seatOf(key);
    const [tenant, topic, principal] = seat;
    const present = shown.get(topicKey(tenant, topic));
    if (present?.delete(principal) !== true) return;
    if (present.size === 0) shown.delete(topicKey(tenant, topic));
    tell("realtime.left", seat, present.size);
  };
  return {
    look(keys) {
      for (const key of keys) {
        if (isPresent(key)) join(key);
        else if (!lingering.has(key))
          lingering.set(key, setTimeout(() => leave(key), lingerMillis).unref());
      }
    },
    snapshot(tenant, topic) {
      const present = shown.get(topicKey(tenant, topic)) ?? new Set();
      const principals = [...present].slice(0, maxNamed);
      const data = { topic, principals, count: present.size };
      return new Signal("realtime.presence", JSON.stringify(data), null);
    },
    stop() {
      for (const one of lingering.values()) clearTimeout(one);
    },
  };
}
