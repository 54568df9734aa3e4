// Work that returns to each of many members every so many milliseconds, such as pings: one timer
// for all of them, which takes a part of the members at a time.
import { monotonicMillis, startTimer } from "../ports/ambient.js";

/** The parts of a round. */
const parts = 25;

export class Rounds<Member> {
  readonly #stepMillis: number;
  /** When the next part is due. A timer that is late doesn't make the parts behind it late. */
  #dueAt = 0;
  readonly #visit: (member: Member) => void;
  readonly #parts = Array.from({ length: parts }, () => new Set<Member>());
  #now = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `visit` must not throw. */
  constructor(roundMillis: number, visit: (member: Member) => void) {
    this.#stepMillis = roundMillis / parts;
    this.#visit = visit;
  }

  /** The member is visited once a round, first a round from now. Returns its part. */
  enter(member: Member): number {
    this.#parts[this.#now]?.add(member);
    this.#size += 1;
    if (this.#timer === undefined) {
      this.#dueAt = monotonicMillis() + this.#stepMillis;
      this.#wait();
    }
    return this.#now;
  }

  /** The member of a part is visited no more. */
  leave(member: Member, part: number): void {
    if (this.#parts[part]?.delete(member) !== true) return;
    this.#size -= 1;
    if (this.#size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    const left = Math.max(0, this.#dueAt - monotonicMillis());
    this.#timer = startTimer(() => this.#visitDue(), left).unref();
  }

  #visitDue(): void {
    const now = monotonicMillis();
    // Less than a round at a time: between two visits, a member's answer to the first can be read.
    for (let part = 1; part < parts && this.#dueAt <= now; part += 1) {
      this.#dueAt += this.#stepMillis;
      this.#now = (this.#now + 1) % parts;
      for (const member of this.#parts[this.#now] ?? []) this.#visit(member);
    }
    // After a stall of a round or more it goes on from here.
    if (this.#dueAt <= now) this.#dueAt = now + this.#stepMillis;
    if (this.#size > 0) this.#wait();
  }
}
