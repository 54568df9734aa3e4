// The port of rate-limit counts that all processes of a service share through its database
// (architecture.md "Work is bounded").

/**
 * Counts within one transaction. Windows go by the engine's clock, because the clocks of processes
 * may differ.
 */
export interface RateStore {
  /**
   * Takes one of the `points` that a key has in a window, which begins with the first one taken.
   * Returns null if one was left, otherwise the milliseconds until the window ends. Atomic; a
   * refusal writes nothing.
   */
  take(name: string, key: string, points: number, windowMillis: number): Promise<number | null>;
  /** Gives one point of the running window back; does nothing if none was taken. */
  giveBack(name: string, key: string): Promise<void>;
  /** Removes the key's count: its next point begins a new window. */
  forget(name: string, key: string): Promise<void>;
  /** Removes at most `limit` counts whose window is over; returns how many. */
  prune(limit: number): Promise<number>;
}
