// Periodic work of one process, in memory. Periodic work of the whole service is in periodic.ts,
// under a lease.
import { startInterval } from "../ports/ambient.js";

export interface Repeated {
  /** Begins nothing more. */
  stop(): void;
}

/**
 * Runs `work` every so many milliseconds, never twice at once. It keeps no process alive; faults go
 * to `onFault`.
 */
export function repeat(
  everyMillis: number,
  work: () => void | Promise<void>,
  onFault: (error: unknown) => void,
): Repeated {
  let isRunning = false;
  const once = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } catch (error) {
      onFault(error);
    } finally {
      isRunning = false;
    }
  };
  const timer = startInterval(() => void once(), everyMillis).unref();
  return { stop: () => clearInterval(timer) };
}
