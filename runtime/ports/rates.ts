// The port of counts that all processes of a service share, kept in its database (architecture.md "Work is bounded").

/** Counts within one transaction. Times are those of the engine's own clock, since those of processes may differ. */
export interface RateStore {
  /**
   * Takes one of `points` for a key, in a window of so many milliseconds that begins with the first; null where one was
   * left, otherwise the milliseconds until the window ends. Atomic; a refusal writes nothing.
   */
  take(name: string, key: string, points: number, windowMillis: number): Promise<number | null>;
  giveBack(name: string, key: string): Promise<void>;
  forget(name: string, key: string): Promise<void>;
  /** Removes at most `limit` counts whose window is over; returns how many. */
  prune(limit: number): Promise<number>;
}
