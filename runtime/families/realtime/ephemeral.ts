// Signals that are not kept, on their way to one connection: dropped for a slow reader, since they
// would only delay it more, and the loss is announced (decisions.md §2: loss is never silent).
import { Signal } from "../../ports/signal.js";
import type { RealtimeCounters } from "./limits.js";
import type { Sink } from "./pump.js";
import type { RealtimeTransport } from "./spec.js";

/** Signals that wait for the beginning of the delivery. */
const mostEarly = 100;

const ofPresence: readonly string[] = ["realtime.presence", "realtime.joined", "realtime.left"];

/** Who hears them. */
export interface EphemeralListener {
  readonly connection: Sink & { readonly transport: RealtimeTransport; flush(): void };
  readonly subscriptions: { readonly topics: readonly string[] };
  /** The connection has missed something, and has just been told so. */
  missed(): void;
}

/** The way of ephemeral signals to one connection. */
export class Ephemeral {
  readonly #listener: EphemeralListener;
  readonly #counters: RealtimeCounters;
  /** What came before the delivery began; null once it has. */
  #early: Signal[] | null = [];
  #owesGap = false;
  #isWaiting = false;

  constructor(listener: EphemeralListener, counters: RealtimeCounters) {
    this.#listener = listener;
    this.#counters = counters;
  }

  /** The connection is ready for signals. */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = null;
    if (this.#owesGap) this.#announce();
    this.send(early);
  }

  send(signals: readonly Signal[]): void {
    const { connection } = this.#listener;
    if (this.#early !== null) return this.#keep(this.#early, signals);
    for (const signal of signals) this.#send(signal);
    connection.flush();
  }

  /** Signals have been lost on their way here: the client is to look again. */
  lost(): void {
    this.#owesGap = true;
    if (this.#early === null) this.#announce();
  }

  #keep(early: Signal[], signals: readonly Signal[]): void {
    // Presence is told as a whole once the delivery begins.
    const told = signals.filter(({ name }) => !ofPresence.includes(name));
    const room = mostEarly - early.length;
    early.push(...told.slice(0, room));
    this.#owesGap ||= told.length > room;
  }

  #send(signal: Signal): void {
    const { connection } = this.#listener;
    if (connection.hasEnded) return;
    if (this.#owesGap) this.#announce();
    if (!this.#owesGap && connection.isWritable()) return connection.write(signal);
    this.#counters.signals[connection.transport].dropped += 1;
    this.#owesGap = true;
    this.#announceLater();
  }

  #announce(): void {
    const { connection, subscriptions } = this.#listener;
    if (connection.hasEnded) return;
    if (!connection.isWritable()) return this.#announceLater();
    this.#owesGap = false;
    this.#counters.signals[connection.transport].gaps += 1;
    // Positions count from 1: for clients that know entries alone, these are none.
    const data = { from: 0, to: 0, topics: subscriptions.topics };
    connection.write(new Signal("realtime.gap", JSON.stringify(data), null));
    this.#listener.missed();
  }

  #announceLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // A connection that takes nothing at all is ended by its flow.
    void this.#listener.connection.writable().then(() => {
      this.#isWaiting = false;
      if (this.#owesGap) this.#announce();
    });
  }
}
