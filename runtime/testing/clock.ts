// The clock of a service under test: it stands still, and moves when the test says so.
import type { Clock } from "../ports/clock.js";
import { millisOf, type Duration } from "./duration.js";

/** What a test has in its hand of the clock. */
export interface TestClock {
  /** The time of the service. */
  now(): Date;
  /** Moves it on. Resolves once the periodic work that has come due meanwhile is done. */
  advance(by: Duration): Promise<void>;
  /** Sets it, back as well: an RFC 3339 text or a date. Otherwise like `advance`. */
  set(to: string | Date): Promise<void>;
}

interface Alarm {
  readonly dueAt: number;
  readonly work: () => void | Promise<void>;
}

/** A clock that nothing but the test moves. */
export class StandingClock implements Clock {
  #now: number;
  readonly #alarms = new Set<Alarm>();

  constructor(start: number) {
    this.#now = start;
  }

  // Handed on as a function by those who ask for the time alone.
  readonly now = (): number => this.#now;

  after(millis: number, work: () => void | Promise<void>): () => void {
    const alarm: Alarm = { dueAt: this.#now + millis, work };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** Sets the time and does what is due by then. What that work schedules anew is due from the new time on. */
  async moveTo(millis: number): Promise<void> {
    this.#now = millis;
    const due = [...this.#alarms]
      .filter(({ dueAt }) => dueAt <= millis)
      .sort((one, other) => one.dueAt - other.dueAt);
    for (const alarm of due) this.#alarms.delete(alarm);
    await Promise.all(due.map(({ work }) => work()));
  }
}

/** The clock as a test has it; `moved` is called after each move. */
export function testClockOf(clock: StandingClock, moved: () => void): TestClock {
  const moveTo = async (millis: number): Promise<void> => {
    await clock.moveTo(millis);
    moved();
  };
  return {
    now: () => new Date(clock.now()),
    advance: async (by) => moveTo(clock.now() + millisOf(by)),
    set: async (to) => moveTo(timeOf(to)),
  };
}

/** Epoch milliseconds. Throws where it is no time. */
export function timeOf(time: string | Date): number {
  const millis = new Date(time).getTime();
  if (Number.isNaN(millis))
    throw new RangeError(`${String(time)} is no time: write 2026-01-31T08:00:00Z`);
  return millis;
}
