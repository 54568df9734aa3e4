// What an SDK throws, which is the author's to mend and no request's to fail by.
import type { Log } from "../../ports/log.js";

export class SdkFaults {
  readonly #log: Log;
  #isTold = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** What `ask` returns, or what `otherwise` makes if it throws. */
  avoid<T>(ask: () => T, otherwise: () => T): T {
    try {
      return ask();
    } catch (error) {
      this.note(error);
      return otherwise();
    }
  }

  /** Has the log say it, once: it may come with every span. */
  note(err: unknown): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#log.warn({ err }, "the SDK of OpenTelemetry has failed: spans are missing from now on");
  }
}
