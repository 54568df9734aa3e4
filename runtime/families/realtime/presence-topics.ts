// What is told of presence: one frame a topic and tick, the same bytes for everybody who hears the
// topic, so that the cost of a thousand who come at once grows with their number and not with its
// square (decisions.md §2 "Presence").
import { Signal } from "../../ports/signal.js";
import type { HubMember } from "./hub.js";
import { monotonicMillis, startTimer } from "../../ports/ambient.js";

/**
 * Milliseconds before others learn that somebody has gone, because most broken connections come
 * back.
 */
const lingerMillis = 2_000;
/** The first change after a quiet time waits so many milliseconds for others of the same moment. */
const gatherMillis = 20;
/** A topic is told of changes at most once in so many milliseconds. */
const tickMillis = 1_000;
/** Principals that one frame names. */
export const maxNamed = 100;

/** A principal on a topic of a tenant. */
export type Seat = readonly [tenant: string, topic: string, principalId: string];

export const keyOf = (seat: Seat): string => JSON.stringify(seat);
export const seatOf = (key: string): Seat => JSON.parse(key) as Seat;

/** Sends a frame to everybody who hears a topic here, except for some. */
export type TellPresence = (
  tenant: string,
  topic: string,
  signal: Signal,
  except: ReadonlySet<HubMember>,
) => void;

/** Some of the members of a topic. */
export interface Occupants {
  readonly principals: readonly string[];
  /** How many there are in all. */
  readonly count: number;
  readonly hasMore: boolean;
}

export interface ShownTopics {
  /**
   * Those who have come count from now on; those who have gone count for a while longer. `keys` are
   * those of seats.
   */
  look(keys: Iterable<string>): void;
  /** Tells a connection the members, with the next tick. */
  greet(tenant: string, topic: string, connection: HubMember): void;
  /** The connection hears the topic no longer. */
  dismiss(tenant: string, topic: string, connection: HubMember): void;
  page(tenant: string, topic: string, after: string, limit: number): Occupants;
  stop(): void;
}

/** A topic, and its changes since it was last told. */
interface ShownTopic {
  readonly tenant: string;
  readonly topic: string;
  readonly present: Set<string>;
  readonly joined: Set<string>;
  readonly left: Set<string>;
  readonly newcomers: Set<HubMember>;
  timer: NodeJS.Timeout | undefined;
  toldAt: number;
}

const nobody: ReadonlySet<HubMember> = new Set();

/** What is told of every topic of a process; `isPresent` says whether a seat is taken anywhere. */
export function shownTopics(
  publish: TellPresence,
  isPresent: (key: string) => boolean,
): ShownTopics {
  const topics = new Map<string, ShownTopic>();
  const lingering = new Map<string, NodeJS.Timeout>();
  const topicKey = (tenant: string, topic: string): string => JSON.stringify([tenant, topic]);
  const topicOf = (tenant: string, topic: string): ShownTopic => {
    const key = topicKey(tenant, topic);
    const shown = topics.get(key) ?? freshTopic(tenant, topic);
    topics.set(key, shown);
    return shown;
  };
  const tellSoon = (shown: ShownTopic): void => {
    const rest = shown.toldAt + tickMillis - monotonicMillis();
    shown.timer ??= startTimer(
      () => {
        shown.timer = undefined;
        shown.toldAt = monotonicMillis();
        tell(shown, publish);
        if (shown.present.size === 0) topics.delete(topicKey(shown.tenant, shown.topic));
      },
      Math.max(gatherMillis, rest),
    ).unref();
  };
  const join = (key: string): void => {
    clearTimeout(lingering.get(key));
    lingering.delete(key);
    const [tenant, topic, principal] = seatOf(key);
    const shown = topicOf(tenant, topic);
    if (shown.present.has(principal)) return;
    shown.present.add(principal);
    // A member who leaves and comes back within a tick was there all the time.
    if (!shown.left.delete(principal)) shown.joined.add(principal);
    tellSoon(shown);
  };
  const leave = (key: string): void => {
    lingering.delete(key);
    const [tenant, topic, principal] = seatOf(key);
    const shown = topics.get(topicKey(tenant, topic));
    if (shown?.present.delete(principal) !== true) return;
    if (!shown.joined.delete(principal)) shown.left.add(principal);
    tellSoon(shown);
  };
  return {
    look(keys) {
      for (const key of keys) {
        if (isPresent(key)) join(key);
        else if (!lingering.has(key))
          lingering.set(key, startTimer(() => leave(key), lingerMillis).unref());
      }
    },

    greet(tenant, topic, connection) {
      const shown = topicOf(tenant, topic);
      shown.newcomers.add(connection);
      tellSoon(shown);
    },

    dismiss(tenant, topic, connection) {
      topics.get(topicKey(tenant, topic))?.newcomers.delete(connection);
    },

    page(tenant, topic, after, limit) {
      const present = topics.get(topicKey(tenant, topic))?.present ?? new Set<string>();
      const rest = [...present].filter((principal) => principal > after).sort();
      const principals = rest.slice(0, limit);
      return { principals, count: present.size, hasMore: rest.length > limit };
    },

    stop() {
      for (const one of lingering.values()) clearTimeout(one);
      for (const { timer } of topics.values()) clearTimeout(timer);
    },
  };
}

function freshTopic(tenant: string, topic: string): ShownTopic {
  return {
    tenant,
    topic,
    present: new Set(),
    joined: new Set(),
    left: new Set(),
    newcomers: new Set(),
    timer: undefined,
    toldAt: -Infinity,
  };
}

/**
 * Tells what has changed: a single move by its name, several as who is there now, which is also
 * what newcomers are told. Clients of version 1 know all three frames.
 */
function tell(shown: ShownTopic, publish: TellPresence): void {
  const { tenant, topic, present } = shown;
  const [joined, left, newcomers] = [[...shown.joined], [...shown.left], [...shown.newcomers]];
  for (const changes of [shown.joined, shown.left, shown.newcomers]) changes.clear();
  const moves = joined.length + left.length;
  if (moves > 1) return publish(tenant, topic, snapshotOf(shown), nobody);
  const [principal] = [...joined, ...left];
  if (principal !== undefined) {
    const name = joined.length === 1 ? "realtime.joined" : "realtime.left";
    const moved = { topic, principal, count: present.size };
    publish(tenant, topic, new Signal(name, JSON.stringify(moved), null), new Set(newcomers));
  }
  const snapshot = newcomers.length === 0 ? null : snapshotOf(shown);
  if (snapshot !== null) for (const one of newcomers) one.signals([snapshot]);
}

/** `realtime.presence`: the first members, and their number. */
function snapshotOf({ topic, present }: ShownTopic): Signal {
  const principals: string[] = [];
  for (const principal of present) {
    if (principals.length === maxNamed) break;
    principals.push(principal);
  }
  const data = { topic, principals, count: present.size };
  return new Signal("realtime.presence", JSON.stringify(data), null);
}
