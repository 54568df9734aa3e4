// Work that returns to each of many members every so many milliseconds, such as pings: one timer
// for all of them, which takes a part of the members at a time.
import { startInterval } from "../ports/ambient.js";

/** The parts of a round. */
const parts = 25;

export class Rounds<Member> {
  readonly #stepMillis: number;
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
    this.#timer ??= startInterval(() => this.#step(), this.#stepMillis).unref();
    return this.#now;
  }

  /** The member of a part is visited no more. */
  leave(member: Member, part: number): void {
    if (this.#parts[part]?.delete(member) !== true) return;
    this.#size -= 1;
    if (this.#size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #step(): void {
    this.#now = (this.#now + 1) % parts;
    for (const member of this.#parts[this.#now] ?? []) this.#visit(member);
  }
}
