// When credentials of connections expire. Many connect within a second, and are given credentials
// of one length: those of one moment share a timer, which takes more memory than what it ends.
import type { Clock } from "../../ports/clock.js";

/** A connection whose credential expires. */
export interface Expiring {
  /** Its time has come. */
  expire(): void;
}

interface Moment {
  readonly expiring: Set<Expiring>;
  readonly cancel: () => void;
}

export class Expiries {
  readonly #clock: Clock;
  readonly #moments = new Map<number, Moment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `expire` at a time in epoch milliseconds, at once if it has passed. */
  add(at: number, one: Expiring): void {
    const left = at - this.#clock.now();
    if (left <= 0) return one.expire();
    const moment = this.#moments.get(at);
    if (moment === undefined) {
      const cancel = this.#clock.after(left, () => this.#expire(at));
      this.#moments.set(at, { expiring: new Set([one]), cancel });
    } else moment.expiring.add(one);
  }

  /** Another credential counts, or the connection has ended. */
  remove(at: number, one: Expiring): void {
    const moment = this.#moments.get(at);
    if (moment?.expiring.delete(one) !== true || moment.expiring.size > 0) return;
    moment.cancel();
    this.#moments.delete(at);
  }

  #expire(at: number): void {
    const moment = this.#moments.get(at);
    this.#moments.delete(at);
    for (const one of moment?.expiring ?? []) one.expire();
  }
}
