// Signals in their order, each handled once and then acknowledged (service.md "Delivery envelope",
// "Acknowledgement").
import { ApiError } from "../core.js";
import { Lane, type Handle, type Signal } from "./lane.js";

export type { Handle, Signal } from "./lane.js";

export interface InboxOptions {
  /** The last signal that an earlier connection of this device handled. */
  readonly lastId: string | null;
  /** Who hears signals now. */
  readonly handlers: ReadonlySet<Handle>;
  /** Acknowledges everything up to an id, a while after it was handled. */
  acknowledge(id: string): void;
  /** Keeps the last signal that was handled. */
  keep(id: string): void;
  /**
   * A handler has failed, or is so far behind that signals pass it by. A kept signal is handed to
   * it again.
   */
  failed(error: unknown): void;
  /** There is room again for kept signals that were let go: they are to be sent anew. */
  again(): void;
}

/** How many signal ids are remembered to recognize duplicates. */
const maxHandled = 2_000;
/**
 * Signals that wait for somebody to hear them; more are let go, of which the service has the kept
 * ones.
 */
const maxUnheard = 1_000;
/**
 * How far behind a handler may be; beyond that signals pass it by, and kept ones wait at the
 * service.
 */
const maxBehind = 10_000;
/** An acknowledgement waits for others this long, or for so many. */
const ackMillis = 1_000;
const ackCount = 50;

export class Inbox {
  readonly #options: InboxOptions;
  /** Listeners, each of which takes signals at its own pace. */
  readonly #lanes = new Map<Handle, Lane>();
  /** Signals that nobody was there to hear. */
  readonly #unheard: Signal[] = [];
  /** Kept signals in their order, with how many have yet to handle each. */
  readonly #open = new Map<string, number>();
  readonly #handled = new Set<string>();
  /** Signals that are not kept, and that another line may bring as well: a tab may have two. */
  readonly #met = new Set<string>();
  #lastHandled: string | null;
  #lastTaken: string | null;
  #unacknowledged = 0;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  /** Whether kept signals were let go. */
  #isCut = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#lastHandled = options.lastId;
    this.#lastTaken = options.lastId;
  }

  /** The signal behind which another line goes on: what came before it is here, handled or not. */
  get lastId(): string | null {
    return this.#lastTaken;
  }

  /** Another line goes on behind this signal where there has been none yet. */
  begin(id: string): void {
    this.#lastTaken ??= id;
  }

  take(signal: Signal, signalId?: string): void {
    const { id } = signal;
    if (this.#isStopped || (this.#isCut && id !== null)) return;
    if (signalId !== undefined) {
      if (this.#met.has(signalId)) return;
      remember(this.#met, signalId);
    }
    if (id !== null && (this.#open.has(id) || this.#handled.has(id) || id === this.#lastHandled))
      return;
    this.#meetHandlers();
    const lanes = [...this.#lanes.values()];
    const isUnheard = lanes.length === 0 || this.#unheard.length > 0;
    const slow = lanes.filter(({ size }) => size >= maxBehind);
    if (isUnheard ? this.#unheard.length >= maxUnheard : slow.length > 0 && id !== null) {
      this.#isCut ||= id !== null;
      this.#tellOf(slow);
      return;
    }
    if (id !== null) this.#lastTaken = id;
    if (isUnheard) {
      if (id !== null) this.#open.set(id, 1);
      this.#unheard.push(signal);
      return;
    }
    if (id !== null) this.#open.set(id, lanes.length);
    for (const lane of lanes) if (lane.size < maxBehind) lane.push(signal);
    this.#tellOf(slow);
  }

  /** Hands what waits to who hears it now, and nothing to who does not any more. */
  run(): void {
    // All who begin to hear in one turn hear the same.
    queueMicrotask(() => {
      if (this.#isStopped) return;
      this.#meetHandlers();
      if (this.#lanes.size === 0) return;
      for (const signal of this.#unheard.splice(0)) {
        if (signal.id !== null) this.#open.set(signal.id, this.#lanes.size);
        for (const lane of this.#lanes.values()) lane.push(signal);
      }
      this.#goOn();
    });
  }

  #meetHandlers(): void {
    const { handlers } = this.#options;
    for (const [handle, lane] of this.#lanes) {
      if (handlers.has(handle)) continue;
      this.#lanes.delete(handle);
      for (const signal of lane.stop()) this.#isDone(signal, false);
    }
    for (const handle of handlers) if (!this.#lanes.has(handle)) this.#addLane(handle);
  }

  #addLane(handle: Handle): void {
    const { handlers, failed } = this.#options;
    const lane = new Lane(handle, {
      isHeard: () => !this.#isStopped && handlers.has(handle),
      failed,
      done: (signal, isHandled) => {
        // What waited behind it may be back already.
        const isBefore = this.#lanes.get(handle) !== lane;
        this.#isDone(signal, isHandled, isBefore);
      },
      isEmpty: () => this.#goOn(),
    });
    this.#lanes.set(handle, lane);
  }

  /** Warns once of each listener that is too far behind. */
  #tellOf(slow: readonly Lane[]): void {
    for (const lane of slow)
      if (lane.markSlow())
        this.#options.failed(
          new ApiError("client.lagging", `a handler is ${maxBehind} signals behind`),
        );
  }

  /** Asks for the dropped signals once all listeners have caught up. */
  #goOn(): void {
    if (!this.#isCut || this.#isStopped || this.#unheard.length > 0) return;
    if ([...this.#lanes.values()].some(({ size }) => size > 0)) return;
    this.#isCut = false;
    this.#options.again();
  }

  /** A listener has handled a signal, or won't. Signals count as handled in their order. */
  #isDone(signal: Signal, isHandled: boolean, isBefore = false): void {
    const { id } = signal;
    if (this.#isStopped) return;
    // What nobody has handled waits for the next who hears.
    const isLast = id === null || (this.#open.get(id) ?? 1) <= 1;
    if (!isHandled && isLast && this.#options.handlers.size === 0) {
      if (isBefore) this.#unheard.unshift(signal);
      else this.#unheard.push(signal);
      return;
    }
    if (id === null) return;
    this.#open.set(id, (this.#open.get(id) ?? 1) - 1);
    for (const [first, waiting] of this.#open) {
      if (waiting > 0) break;
      this.#open.delete(first);
      this.#hasHandled(first);
    }
  }

  #hasHandled(id: string): void {
    remember(this.#handled, id);
    this.#lastHandled = id;
    this.#options.keep(id);
    this.#unacknowledged += 1;
    if (this.#unacknowledged >= ackCount) this.acknowledge();
    else this.#ackTimer ??= setTimeout(() => this.acknowledge(), ackMillis);
  }

  /** Acknowledges all handled signals now. */
  acknowledge(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    const id = this.#lastHandled;
    if (this.#unacknowledged > 0 && id !== null) this.#options.acknowledge(id);
    this.#unacknowledged = 0;
  }

  /** Nothing is handled any more; what waits is left to the service, which still has it. */
  stop(): void {
    this.acknowledge();
    this.#isStopped = true;
    for (const lane of this.#lanes.values()) lane.stop();
    this.#unheard.length = 0;
  }
}

/** Adds an id to those that are remembered, of which the oldest are forgotten. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  for (const oldest of ids) {
    if (ids.size <= maxHandled) break;
    ids.delete(oldest);
  }
}
