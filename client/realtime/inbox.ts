// Signals in their order, each handled once and then acknowledged (service.md "Delivery envelope", "Acknowledgement").
import { pauseMillis } from "./pause.js";

export interface Signal {
  readonly name: string;
  /** Null where it is not kept by the service. */
  readonly id: string | null;
  readonly data: unknown;
}

export type Handle = (signal: Signal) => unknown;

export interface InboxOptions {
  /** The last signal that an earlier connection of this device handled. */
  readonly lastId: string | null;
  /** Who hears signals now. */
  readonly handlers: ReadonlySet<Handle>;
  /** Acknowledges everything up to an id, a while after it was handled. */
  acknowledge(id: string): void;
  /** Keeps the last signal that was handled. */
  keep(id: string): void;
  /** A handler has failed; where the signal is kept, it is handed to that handler again. */
  failed(error: unknown): void;
  /** There is room again for kept signals that nobody was there to hear: they are to be sent anew. */
  again(): void;
}

/** Ids of handled signals that are remembered to tell what comes twice. */
const maxHandled = 2_000;
/** Signals that wait for somebody to hear them; more are let go, of which the service has the kept ones. */
const maxUnheard = 1_000;
/** An acknowledgement waits for others this long, or for so many. */
const ackMillis = 1_000;
const ackCount = 50;

export class Inbox {
  readonly #options: InboxOptions;
  readonly #queue: Signal[] = [];
  readonly #queued = new Set<string>();
  readonly #handled = new Set<string>();
  #lastHandled: string | null;
  #lastTaken: string | null;
  #unacknowledged = 0;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
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

  take(signal: Signal): void {
    const { id } = signal;
    if (this.#isStopped || (this.#isCut && id !== null)) return;
    if (this.#options.handlers.size === 0 && this.#queue.length >= maxUnheard) {
      this.#isCut ||= id !== null;
      return;
    }
    if (id !== null) {
      if (this.#queued.has(id) || this.#handled.has(id) || id === this.#lastHandled) return;
      this.#queued.add(id);
      this.#lastTaken = id;
    }
    this.#queue.push(signal);
    this.run();
  }

  /** Handles what waits, once there is somebody to hear it. */
  run(): void {
    if (this.#isRunning || this.#options.handlers.size === 0) return;
    this.#isRunning = true;
    void this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const isHandled = await this.#handle(next);
      if (this.#isStopped) return;
      if (!isHandled) break;
      this.#queue.shift();
    }
    this.#isRunning = false;
    if (!this.#isCut || this.#queue.length > 0) return;
    this.#isCut = false;
    this.#options.again();
  }

  /**
   * Hands a signal to everybody, one after the other; who fails is given a kept one again. False where nobody is there to
   * hear it any more: it waits for the next who is.
   */
  async #handle(signal: Signal): Promise<boolean> {
    const done = new Set<Handle>();
    for (let failures = 0; !this.#isStopped; failures += 1) {
      if (this.#options.handlers.size === 0 && done.size === 0) return false;
      try {
        for (const handle of this.#options.handlers) {
          if (done.has(handle)) continue;
          await handle(signal);
          done.add(handle);
          if (this.#isStopped) return false;
        }
        break;
      } catch (error) {
        this.#options.failed(error);
        if (signal.id === null) return true;
        await new Promise((resolve) => setTimeout(resolve, pauseMillis(failures)));
      }
    }
    if (signal.id !== null && !this.#isStopped) this.#hasHandled(signal.id);
    return true;
  }

  #hasHandled(id: string): void {
    this.#queued.delete(id);
    this.#handled.add(id);
    for (const oldest of this.#handled) {
      if (this.#handled.size <= maxHandled) break;
      this.#handled.delete(oldest);
    }
    this.#lastHandled = id;
    this.#options.keep(id);
    this.#unacknowledged += 1;
    if (this.#unacknowledged >= ackCount) this.acknowledge();
    else this.#ackTimer ??= setTimeout(() => this.acknowledge(), ackMillis);
  }

  /** Acknowledges what has been handled, now. */
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
    this.#queue.length = 0;
  }
}
