// The clock of a service: what dates, expiry, retention and periodic work go by. How long something takes is measured by
// `performance.now()`, which nobody sets.

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `work` once so many milliseconds have passed; returns how to take that back. `work` must not reject. */
  after(millis: number, work: () => void | Promise<void>): () => void;
}

/** The longest timer that Node.js has; a longer one would fire at once. */
const longestMillis = 0x7fff_ffff;

/** The machine's. It keeps no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(millis, work) {
    const dueAt = Date.now() + millis;
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const fire = (): void => {
        // Whoever sets the machine's time changes what is left.
        const rest = left > longestMillis ? dueAt - Date.now() : 0;
        if (rest > 0) wait(rest);
        else void work();
      };
      timer = setTimeout(fire, Math.min(Math.max(left, 0), longestMillis)).unref();
    };
    wait(millis);
    return () => clearTimeout(timer);
  },
};
