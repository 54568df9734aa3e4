// What is counted for the objectives of a service (SLO): all requests of operations, those that
// failed, and those that took longer than is promised.
import { counter, type DeclaredMetrics } from "../operations/metric.js";

export interface CountedObjectives {
  /** The time in which requests are to be answered; none is asked for if left out. */
  readonly latencySeconds?: number;
  /** Operations of which no time is asked: `reports.yearly`, or `reports.*`. */
  readonly except?: readonly string[];
}

/**
 * Counters without labels. They are there from the start, so that the first failure is seen as one:
 * Prometheus takes no rate of a series that begins with it.
 */
export class Objectives {
  readonly #latencySeconds: number;
  readonly #isTimed: (operation: string) => boolean;
  #requests = 0;
  #failed = 0;
  #timed = 0;
  #slow = 0;

  constructor({ latencySeconds = Infinity, except = [] }: CountedObjectives) {
    this.#latencySeconds = latencySeconds;
    const excepted = new Set(except);
    const timed = new Map<string, boolean>();
    // Found out once for each operation, of which there are only so many.
    this.#isTimed = (operation) => {
      const known = timed.get(operation);
      if (known !== undefined) return known;
      const [namespace] = operation.split(".", 1);
      const isTimed = !excepted.has(operation) && !excepted.has(`${namespace}.*`);
      timed.set(operation, isTimed);
      return isTimed;
    };
  }

  /**
   * Counts a request of an operation that has ended. One whose caller left, or was ended, before
   * the answer was complete is neither good nor bad, unless it had waited for too long.
   */
  observe(operation: string, status: number, seconds: number, isAborted: boolean): void {
    const isTimed = this.#isTimed(operation);
    const isSlow = isTimed && seconds > this.#latencySeconds;
    if (isAborted && !isSlow) return;
    this.#requests += 1;
    if (status >= 500) {
      this.#failed += 1;
      return;
    }
    if (!isTimed) return;
    this.#timed += 1;
    if (isSlow) this.#slow += 1;
  }

  metrics(): DeclaredMetrics {
    const ofAvailability = {
      slo_requests: counter("Requests of operations.", () => this.#requests),
      slo_failed: counter(
        "Requests of operations that failed with a status of 500 or more.",
        () => this.#failed,
      ),
    };
    if (this.#latencySeconds === Infinity) return ofAvailability;
    return {
      ...ofAvailability,
      slo_timed: counter("Requests of which a time is promised.", () => this.#timed),
      slo_slow: counter("Those that took longer than is promised.", () => this.#slow),
    };
  }
}
