// The clock of a service under test: it stands still, and moves when the test says so.
import type { Clock } from "../ports/clock.js";
import { millisOf, type Duration } from "./duration.js";

/** The clock of the service, as a test controls it. */
export interface TestClock {
  /** The time of the service. */
  now(): Date;
  /**
   * Moves the clock forward. Resolves once the periodic work that has come due is done. Throws at
   * once for what is no duration.
   */
  advance(by: Duration): Promise<void>;
  /**
   * Sets the clock, forward or back, to an RFC 3339 text or a date. Otherwise like `advance`;
   * throws at once for what is no time.
   */
  set(to: string | Date): Promise<void>;
}

interface Alarm {
  readonly dueAt: number;
  readonly work: () => void | Promise<void>;
}

/** A clock that nothing but the test moves. */
export class StandingClock implements Clock {
  readonly isMovedByTests = true;
  #now: number;
  readonly #alarms = new Set<Alarm>();

  constructor(start: number) {
    this.#now = start;
  }

  // An arrow function, because those who only need the time pass it on without the clock.
  readonly now = (): number => this.#now;

  after(millis: number, work: () => void | Promise<void>): () => void {
    const alarm: Alarm = { dueAt: this.#now + millis, work };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /**
   * Sets the time and does what is due by then. Work that this schedules again counts from the new
   * time.
   */
  async moveTo(millis: number): Promise<void> {
    this.#now = millis;
    const due = [...this.#alarms]
      .filter(({ dueAt }) => dueAt <= millis)
      .sort((one, other) => one.dueAt - other.dueAt);
    for (const alarm of due) this.#alarms.delete(alarm);
    await Promise.all(due.map(({ work }) => work()));
  }
}

/** The clock as a test controls it; `moved` is called after each move. */
export function testClockOf(clock: StandingClock, moved: () => void): TestClock {
  const moveTo = async (millis: number): Promise<void> => {
    await clock.moveTo(millis);
    moved();
  };
  return {
    now: () => new Date(clock.now()),
    // What is no time is thrown at once: a rejection that nobody awaits would name no line of the
    // test.
    advance: (by) => moveTo(clock.now() + millisOf(by)),
    set: (to) => moveTo(timeOf(to)),
  };
}

/** The epoch milliseconds of a time. Throws a `RangeError` if it isn't one. */
export function timeOf(time: string | Date): number {
  const millis = new Date(time).getTime();
  if (Number.isNaN(millis))
    throw new RangeError(`${String(time)} is no time: write 2026-01-31T08:00:00Z`);
  return millis;
}
