// Signals of a line that takes the place of another one: they wait until that one has said all, so that their order is kept.
import type { Heard } from "./place.js";

/** How long the line before is heard on: another process, or another tab, may be behind with what it tells. */
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

  /** The line hears what it was asked for: signals wait for a while. */
  drain(): void {
    if (!this.#isAsking) return;
    this.#isAsking = false;
    this.#until = performance.now() + drainMillis;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#goOn(), drainMillis);
  }

  /** The line does not hear what it was asked for. */
  refuse(): void {
    this.#isAsking = false;
    this.#goOn();
  }

  /** What is kept comes over one line alone, and waits for nothing. */
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

  /** Hands over what has waited long enough. */
  #goOn(): void {
    if (this.#held === null || this.#isAsking || performance.now() < this.#until - 1) return;
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = null;
    for (const signal of held) this.#hand(signal);
  }
}
