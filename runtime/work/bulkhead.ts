// A bulkhead: limits how much work runs at a time, and how much of that is one payer's; the rest
// waits in turn, within bounds (architecture.md "Work is bounded": share).
import { unavailable } from "../contract/errors.js";
import type { WaitedFor } from "../ports/overdue.js";
import type { BulkheadState, Payer, Work } from "../ports/work.js";
import { monotonicMillis } from "../ports/ambient.js";

export interface BulkheadOptions {
  /** What its places are of. */
  readonly what: WaitedFor;
  /** How much work may run at a time. */
  readonly size: number;
  /**
   * Places that one payer may hold, at least one. The service's own work has no payer, may hold all
   * places, and goes first.
   */
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

/** Gives the place back; further calls do nothing. */
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
      limit: this.#options.size,
      running: this.#running,
      waiting: this.#waiting,
      refused: this.#refused,
      waited: this.#waited,
      waitedMillis: this.#waitedMillis,
    };
  }

  /**
   * Takes a place; resolves with how to give it back. Rejects with `core.unavailable` if too many
   * wait, and with the lifetime's reason if that ends first.
   */
  enter(work: Work): Leave | Promise<Leave> {
    const { payer } = work;
    const key = payer?.key ?? "";
    const account = this.#accounts.get(key) ?? this.#opened(key, payer);
    // If others wait, a free place is theirs.
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
      const since = monotonicMillis();
      let off: (() => void) | undefined;
      const one: Waiting = {
        enter: () => {
          off?.();
          this.#waited += 1;
          this.#waitedMillis += monotonicMillis() - since;
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
      }, this.#options.what);
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

  /**
   * Admits waiting work, one payer after the other: a payer that was just served goes to the end of
   * the row.
   */
  #admit(): void {
    if (this.#waiting === 0) return;
    const own = this.#accounts.get("");
    for (let free = this.#options.size - this.#running; free > 0; free -= 1)
      if (own !== undefined) this.#letIn(own);
    for (const account of this.#accounts.values()) {
      if (this.#running >= this.#options.size) return;
      if (account.running >= account.share || account.waiting.length === 0) continue;
      // The payer now stands at the end of the row, where this loop meets it once more.
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
