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
  readonly #latencySeconds: number | undefined;
  readonly #except: ReadonlySet<string>;
  #requests = 0;
  #failed = 0;
  #timed = 0;
  #slow = 0;

  constructor({ latencySeconds, except = [] }: CountedObjectives) {
    this.#latencySeconds = latencySeconds;
    this.#except = new Set(except);
  }

  /**
   * Counts a request of an operation that has ended. One whose caller left, or was ended, before
   * the answer was complete is neither good nor bad, unless it had waited for too long.
   */
  observe(operation: string, status: number, seconds: number, isAborted: boolean): void {
    if (isAborted && !this.#isSlow(operation, seconds)) return;
    this.#requests += 1;
    if (status >= 500) {
      this.#failed += 1;
      return;
    }
    if (this.#latencySeconds === undefined || this.#isExcepted(operation)) return;
    this.#timed += 1;
    if (this.#isSlow(operation, seconds)) this.#slow += 1;
  }

  #isSlow(operation: string, seconds: number): boolean {
    const latencySeconds = this.#latencySeconds;
    return latencySeconds !== undefined && seconds > latencySeconds && !this.#isExcepted(operation);
  }

  #isExcepted(operation: string): boolean {
    if (this.#except.size === 0) return false;
    const [namespace] = operation.split(".", 1);
    return this.#except.has(operation) || this.#except.has(`${namespace}.*`);
  }

  metrics(): DeclaredMetrics {
    const ofAvailability = {
      slo_requests: counter("Requests of operations.", () => this.#requests),
      slo_failed: counter(
        "Requests of operations that failed with a status of 500 or more.",
        () => this.#failed,
      ),
    };
    if (this.#latencySeconds === undefined) return ofAvailability;
    return {
      ...ofAvailability,
      slo_timed: counter("Requests of which a time is promised.", () => this.#timed),
      slo_slow: counter("Those that took longer than is promised.", () => this.#slow),
    };
  }
}
