// Checks that the leading tab is alive: followers ask, since timers may rest in hidden pages.

export interface WatchOptions {
  /** Asks the leading tab for a sign of life. */
  ask(): void;
  /** It has given none for a while. */
  stands(): void;
}

/** How often a tab looks; a page in the background has its timers once a second. */
const tickMillis = 800;
/** Looks without a sign of life until another tab takes over: 3.2 s, or 4 s in the background. */
const maxMissed = 3;
/** A tab that checks later than this has stood still itself, and may have missed messages. */
const lateMillis = 2_500;

export class Watch {
  readonly #options: WatchOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #missed = 0;
  #hasHeard = true;
  #lookedAt = performance.now();

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), tickMillis);
  }

  /** The leading tab has said something. */
  heard(): void {
    this.#hasHeard = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const wasAway = now - this.#lookedAt > lateMillis;
    this.#lookedAt = now;
    const isThere = this.#hasHeard;
    this.#hasHeard = false;
    this.#missed = isThere || wasAway ? 0 : this.#missed + 1;
    if (this.#missed < maxMissed) return isThere ? undefined : this.#options.ask();
    this.#missed = 0;
    this.#options.stands();
  }
}
