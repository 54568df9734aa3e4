// Signals that are not kept, on their way to one connection: dropped for a slow reader, since they
// would only delay it more, and the loss is announced (decisions.md §2: loss is never silent).
import { Signal } from "../../ports/signal.js";
import type { RealtimeCounters } from "./limits.js";
import type { Sink } from "./pump.js";
import type { RealtimeTransport } from "./spec.js";

/** Signals that wait for the beginning of the delivery. */
const mostEarly = 100;

const ofPresence: readonly string[] = ["realtime.presence", "realtime.joined", "realtime.left"];

export interface EphemeralOptions {
  readonly connection: Sink & { readonly transport: RealtimeTransport; flush(): void };
  readonly counters: RealtimeCounters;
  /** The topics that the connection hears. */
  readonly topics: () => readonly string[];
  /** The connection has missed something, and has just been told so. */
  readonly missed: () => void;
}

/** The way of ephemeral signals to one connection. */
export class Ephemeral {
  readonly #options: EphemeralOptions;
  /** What came before the delivery began; null once it has. */
  #early: Signal[] | null = [];
  #owesGap = false;
  #isWaiting = false;

  constructor(options: EphemeralOptions) {
    this.#options = options;
  }

  /** The connection is ready for signals. */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = null;
    if (this.#owesGap) this.#announce();
    this.send(early);
  }

  send(signals: readonly Signal[]): void {
    const { connection } = this.#options;
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
    const { connection, counters } = this.#options;
    if (connection.hasEnded) return;
    if (this.#owesGap) this.#announce();
    if (!this.#owesGap && connection.isWritable()) return connection.write(signal);
    counters.signals[connection.transport].dropped += 1;
    this.#owesGap = true;
    this.#announceLater();
  }

  #announce(): void {
    const { connection, counters, topics, missed } = this.#options;
    if (connection.hasEnded) return;
    if (!connection.isWritable()) return this.#announceLater();
    this.#owesGap = false;
    counters.signals[connection.transport].gaps += 1;
    // Positions count from 1: for clients that know entries alone, these are none.
    const data = { from: 0, to: 0, topics: topics() };
    connection.write(new Signal("realtime.gap", JSON.stringify(data), null));
    missed();
  }

  #announceLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // A connection that takes nothing at all is ended by its flow.
    void this.#options.connection.writable().then(() => {
      this.#isWaiting = false;
      if (this.#owesGap) this.#announce();
    });
  }
}
