// Signals of a line that takes the place of another one: they wait until that one has said all, so
// that their order is kept.
import type { Heard } from "./place.js";

/** How long the previous line is still read: another process or tab may be behind. */
const drainMillis = 1_000;

export class HoldBack {
  readonly #hand: (signal: Heard) => void;
  #held: Heard[] | null = null;
  /** Whether it is open yet which line is the later one. */
  #isAsking = false;
  #until = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(hand: (signal: Heard) => void) {
    this.#hand = hand;
  }

  get isHolding(): boolean {
    return this.#held !== null;
  }

  /** The line is asked for what another one tells: signals wait from now on. */
  begin(): void {
    this.#held ??= [];
    this.#isAsking = true;
  }

  /** The line has its topics: signals wait for a while. */
  drain(): void {
    if (!this.#isAsking) return;
    this.#isAsking = false;
    this.#until = performance.now() + drainMillis;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#goOn(), drainMillis);
  }

  /** The line doesn't have its topics. */
  refuse(): void {
    this.#isAsking = false;
    this.#goOn();
  }

  /** Durable signals come over one line only, and wait for nothing. */
  take(signal: Heard): void {
    const [, id] = signal;
    // Timers of a page that is hidden may rest.
    this.#goOn();
    if (this.#held !== null && id === null) this.#held.push(signal);
    else this.#hand(signal);
  }

  /** What waits is not handed over any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#held = null;
  }

  /** Hands over signals that have waited long enough. */
  #goOn(): void {
    if (this.#held === null || this.#isAsking || performance.now() < this.#until - 1) return;
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = null;
    for (const signal of held) this.#hand(signal);
  }
}
