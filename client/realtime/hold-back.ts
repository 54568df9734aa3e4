// Signals of a line that takes the place of another one: they wait until that one has said all, so that their order is kept.
import type { Heard } from "./place.js";

/** How long the line before is heard on: another process, or another tab, may be behind with what it tells. */
const drainMillis = 1_000;

export class HoldBack {
  readonly #hand: (signal: Heard) => void;
  #held: Heard[] | null = null;
  #until = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(hand: (signal: Heard) => void) {
    this.#hand = hand;
  }

  /** Signals wait from now on, for a while. */
  begin(): void {
    this.#held ??= [];
    clearTimeout(this.#timer);
    this.#until = performance.now() + drainMillis;
    this.#timer = setTimeout(() => this.#end(), drainMillis);
  }

  /** What is kept comes over one line alone, and waits for nothing. */
  take(signal: Heard): void {
    const [, id] = signal;
    // Timers of a page that is hidden may rest.
    if (this.#held !== null && performance.now() >= this.#until) this.#end();
    if (this.#held !== null && id === null) this.#held.push(signal);
    else this.#hand(signal);
  }

  /** What waits is not handed over any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#held = null;
  }

  #end(): void {
    clearTimeout(this.#timer);
    const held = this.#held ?? [];
    this.#held = null;
    for (const signal of held) this.#hand(signal);
  }
}
