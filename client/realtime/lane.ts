// The signals of one handler: one after the other, at its own pace, so that one that is slow holds
// no other up.
import { pauseMillis } from "./pause.js";

export interface Signal {
  readonly name: string;
  /** Null for ephemeral signals. */
  readonly id: string | null;
  readonly data: unknown;
  readonly traceparent?: string | undefined;
}

/**
 * A signal by its name. `id` is null if it is ephemeral. `traceparent` says to which trace it
 * belongs, if somebody records that (W3C Trace Context).
 */
export type SignalOf<Events> = {
  readonly [Name in keyof Events]: {
    readonly name: Name;
    readonly id: string | null;
    readonly data: Events[Name];
    readonly traceparent?: string | undefined;
  };
}[keyof Events];

export type Handle = (signal: Signal) => unknown;

export interface LaneOptions {
  /** Whether the handler still hears signals. */
  isHeard(): boolean;
  /** The handler has failed. It gets a durable signal again. */
  failed(error: unknown): void;
  /** It has handled a signal; or it has not, and hears no more. */
  done(signal: Signal, isHandled: boolean): void;
  /** All that waited is handled. */
  isEmpty(): void;
}

export class Lane {
  readonly #handle: Handle;
  readonly #options: LaneOptions;
  readonly #queue: Signal[] = [];
  #isRunning = false;
  #isStopped = false;
  #isSlow = false;
  /** Ends the pause before a signal is handed over again. */
  #goOn: () => void = () => undefined;

  constructor(handle: Handle, options: LaneOptions) {
    this.#handle = handle;
    this.#options = options;
  }

  /** How many signals wait, with the one that is being handled. */
  get size(): number {
    return this.#queue.length;
  }

  push(signal: Signal): void {
    this.#queue.push(signal);
    if (!this.#isRunning) void this.#run();
  }

  /** Whether this is the first time since it last caught up. */
  markSlow(): boolean {
    const isFirst = !this.#isSlow;
    this.#isSlow = true;
    return isFirst;
  }

  /** Stops after the signal being handled; returns those waiting behind it. */
  stop(): readonly Signal[] {
    this.#isStopped = true;
    this.#goOn();
    return this.#queue.splice(this.#isRunning ? 1 : 0);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const isHandled = await this.#hand(next);
      this.#queue.shift();
      this.#options.done(next, isHandled);
    }
    this.#isRunning = false;
    this.#isSlow = false;
    if (!this.#isStopped) this.#options.isEmpty();
  }

  /** Hands over a signal, a durable one until it succeeds. False if the handler is removed. */
  async #hand(signal: Signal): Promise<boolean> {
    for (let failures = 0; !this.#isStopped && this.#options.isHeard(); failures += 1) {
      try {
        await this.#handle(signal);
        return true;
      } catch (error) {
        this.#options.failed(error);
        if (signal.id === null) return true;
        await this.#pause(pauseMillis(failures));
      }
    }
    return false;
  }

  async #pause(millis: number): Promise<void> {
    if (this.#isStopped) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      timer = setTimeout(resolve, millis);
    });
    clearTimeout(timer);
  }
}
