// A bulkhead: so many at a time, of which one payer has a part; who waits, waits in turn and not for ever
// (architecture.md "Work is bounded": share).
import { unavailable } from "../contract/errors.js";
import type { BulkheadState, Payer, Work } from "../ports/work.js";

export interface BulkheadOptions {
  /** Places in all. */
  readonly size: number;
  /** Places that one payer may hold, one at least. The service itself, which has no payer, may hold all, and goes first. */
  readonly shareOf: (payer: Payer) => number;
  /** How many may wait: in all, and for one payer. The service itself is never refused. */
  readonly maxWaiting: number;
  readonly maxWaitingPerPayer: number;
}

interface Waiting {
  readonly enter: () => void;
}

interface Account {
  readonly share: number;
  running: number;
  readonly waiting: Waiting[];
}

/** Gives back a place; further calls do nothing. */
export type Leave = () => void;

/** Admits work. Payers take turns, whatever the length of their queues. */
export class Bulkhead {
  readonly #options: BulkheadOptions;
  readonly #accounts = new Map<string, Account>();
  #running = 0;
  #waiting = 0;
  #refused = 0;
  #waited = 0;
  #waitedMillis = 0;

  constructor(options: BulkheadOptions) {
    this.#options = options;
  }

  get state(): BulkheadState {
    return {
      running: this.#running,
      waiting: this.#waiting,
      refused: this.#refused,
      waited: this.#waited,
      waitedMillis: this.#waitedMillis,
    };
  }

  /**
   * Takes a place; resolves with how to give it back. Rejects with `core.unavailable` where too many wait, and with the
   * reason of the lifetime where that ends first.
   */
  enter(work: Work): Leave | Promise<Leave> {
    const { payer } = work;
    const key = payer?.key ?? "";
    const account = this.#accounts.get(key) ?? this.#opened(key, payer);
    // Where others wait there is no free place that this one may take before them.
    if (this.#running < this.#options.size && account.running < account.share)
      return this.#entered(key, account);
    const { maxWaiting, maxWaitingPerPayer } = this.#options;
    const isTooMany = this.#waiting >= maxWaiting || account.waiting.length >= maxWaitingPerPayer;
    if (isTooMany && payer !== null) {
      this.#refused += 1;
      this.#close(key, account);
      throw unavailable();
    }
    return this.#queued(work, key, account);
  }

  /** Runs work in a place. */
  async within<T>(work: Work, run: () => Promise<T>): Promise<T> {
    const leave = await this.enter(work);
    try {
      return await run();
    } finally {
      leave();
    }
  }

  #queued({ lifetime }: Work, key: string, account: Account): Promise<Leave> {
    return new Promise<Leave>((resolve, reject) => {
      const since = performance.now();
      let off: (() => void) | undefined;
      const one: Waiting = {
        enter: () => {
          off?.();
          this.#waited += 1;
          this.#waitedMillis += performance.now() - since;
          resolve(this.#entered(key, account));
        },
      };
      account.waiting.push(one);
      this.#waiting += 1;
      off = lifetime.onOver((reason) => {
        const at = account.waiting.indexOf(one);
        if (at < 0) return;
        account.waiting.splice(at, 1);
        this.#waiting -= 1;
        this.#close(key, account);
        reject(reason);
      });
    });
  }

  #opened(key: string, payer: Payer | null): Account {
    const { size, shareOf } = this.#options;
    const share = payer === null ? size : Math.max(1, Math.floor(shareOf(payer)));
    const account: Account = { share, running: 0, waiting: [] };
    this.#accounts.set(key, account);
    return account;
  }

  /** Its next turn comes after those of all others. */
  #toEnd(key: string, account: Account): void {
    this.#accounts.delete(key);
    this.#accounts.set(key, account);
  }

  #close(key: string, account: Account): void {
    if (account.running === 0 && account.waiting.length === 0) this.#accounts.delete(key);
  }

  #entered(key: string, account: Account): Leave {
    this.#running += 1;
    account.running += 1;
    this.#toEnd(key, account);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#running -= 1;
      account.running -= 1;
      this.#toEnd(key, account);
      this.#close(key, account);
      this.#admit();
    };
  }

  /** Lets in who waits, one payer after the other: who has just been let in goes to the end of the row. */
  #admit(): void {
    if (this.#waiting === 0) return;
    const own = this.#accounts.get("");
    for (let free = this.#options.size - this.#running; free > 0; free -= 1)
      if (own !== undefined) this.#letIn(own);
    for (const account of this.#accounts.values()) {
      if (this.#running >= this.#options.size) return;
      if (account.running >= account.share || account.waiting.length === 0) continue;
      // Who has been let in stands at the end of the row, where this loop meets it once more.
      this.#letIn(account);
    }
  }

  #letIn(account: Account): void {
    const next = account.waiting.shift();
    if (next === undefined) return;
    this.#waiting -= 1;
    next.enter();
  }
}
