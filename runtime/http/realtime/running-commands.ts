// The commands of one connection: a limited number at once, and no new ones once it is ending.
import { fail } from "../../contract/errors.js";
import { nextTurn, sleep } from "../../ports/ambient.js";

/** Commands that run at once on one connection. */
const maxInFlight = 16;
/** How long the end of a connection waits for running commands, in milliseconds. */
const leaveMillis = 5_000;

export class RunningCommands {
  #running: Set<Promise<unknown>> | undefined;
  #isLeaving = false;

  /** Throws `service_draining`, `realtime_commands_limit`, and what the work does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isLeaving) throw fail("service_draining");
    const running = (this.#running ??= new Set());
    if (running.size >= maxInFlight) throw fail("realtime_commands_limit");
    const done = work();
    running.add(done);
    try {
      return await done;
    } finally {
      running.delete(done);
    }
  }

  /** Resolves when the running ones have been answered, or their time is over. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    const patience = sleep(leaveMillis, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.#running ?? []), patience]);
    // Their answers are written right after them.
    await nextTurn();
  }
}
