// When credentials of connections expire. Many connect within a second, and are given credentials
// of one length: those of one moment share a timer, which takes more memory than what it ends.
import type { Clock } from "../../ports/clock.js";

/** A connection whose credential expires. */
export interface Expiring {
  /** Its time has come. Must not throw. */
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
    if (moment === undefined) this.#wait(at, left, new Set([one]));
    else moment.expiring.add(one);
  }

  /** Another credential counts, or the connection has ended. */
  remove(at: number, one: Expiring): void {
    const moment = this.#moments.get(at);
    if (moment?.expiring.delete(one) !== true || moment.expiring.size > 0) return;
    moment.cancel();
    this.#moments.delete(at);
  }

  #wait(at: number, millis: number, expiring: Set<Expiring>): void {
    const cancel = this.#clock.after(millis, () => this.#expire(at, expiring));
    this.#moments.set(at, { expiring, cancel });
  }

  #expire(at: number, expiring: Set<Expiring>): void {
    // Somebody may have set the clock back since the timer was started.
    const left = at - this.#clock.now();
    if (left > 0) return this.#wait(at, left, expiring);
    this.#moments.delete(at);
    for (const one of expiring) one.expire();
  }
}
