// The lock of the tab that leads (Web Locks): the others wait for it, or take it from one that
// stands still.
import type { Locks } from "./platform.js";

export interface LeadLockOptions {
  readonly locks: Locks;
  readonly name: string;
  /** Takes the lock; false if this tab no longer wants it. */
  lead(): boolean;
  /** Another tab has taken it from this one. */
  taken(): void;
}

export class LeadLock {
  readonly #options: LeadLockOptions;
  /** Ends the wait for the lock. */
  #queueing = new AbortController();
  #release: () => void = () => undefined;

  constructor(options: LeadLockOptions) {
    this.#options = options;
  }

  /** Waits for the lock. */
  seek(): void {
    this.#request(false);
  }

  /** Takes it from whoever has it. */
  steal(): void {
    this.#request(true);
  }

  /** Waits for it no longer. */
  stop(): void {
    this.#queueing.abort();
  }

  release(): void {
    this.#release();
  }

  #request(steal: boolean): void {
    const { locks, name, taken } = this.#options;
    const queueing = new AbortController();
    this.#queueing.abort();
    this.#queueing = queueing;
    let isHeld = false;
    locks
      .request(name, steal ? { steal } : { signal: queueing.signal }, () => {
        isHeld = true;
        return this.#hold();
      })
      .catch(() => {
        // It found this tab standing still.
        if (isHeld) return taken();
        if (queueing.signal.aborted) return undefined;
        // A page without an origin has locks, which refuse: it has nobody to share with either.
        return this.#hold();
      });
  }

  #hold(): Promise<void> {
    if (!this.#options.lead()) return Promise.resolve();
    return new Promise((resolve) => (this.#release = resolve));
  }
}
