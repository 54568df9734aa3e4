// The clock of a service, for dates, expiry, retention and periodic work. Durations are measured
// with `monotonicMillis` instead, which doesn't jump when somebody sets the machine's time.
import { epochMillis, startTimer } from "./ambient.js";

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Calls `work` after so many milliseconds; returns a function that cancels this. `work` must not
   * reject.
   */
  after(millis: number, work: () => void | Promise<void>): () => void;
  /** Whether a test moves it. Then deadlines of invocations end by it, too (`Lifetime.until`). */
  readonly isMovedByTests?: true;
}

/** The longest timer that Node.js supports; a longer one would fire at once. */
const longestMillis = 0x7fff_ffff;

/** The machine's clock. Its timers don't keep the process alive. */
export const systemClock: Clock = {
  now: epochMillis,
  after(millis, work) {
    const dueAt = epochMillis() + millis;
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const fire = (): void => {
        // A long wait takes several timers. What is left is computed afresh, in case somebody has
        // set the machine's time.
        const rest = left > longestMillis ? dueAt - epochMillis() : 0;
        if (rest > 0) wait(rest);
        else void work();
      };
      timer = startTimer(fire, Math.min(Math.max(left, 0), longestMillis)).unref();
    };
    wait(millis);
    return () => clearTimeout(timer);
  },
};
