// Work that goes one after another by name within a process, before it takes anything that others
// need.
import type { Work } from "../ports/work.js";
import { Bulkhead } from "./bulkhead.js";

const options = {
  what: "the database",
  size: 1,
  shareOf: () => 1,
  maxWaiting: 256,
  maxWaitingPerPayer: 64,
} as const;

/** Turns of many names, each with the rules of a bulkhead. */
export class NamedTurns {
  readonly #turns = new Map<string, Bulkhead>();

  /**
   * Runs once its turn under this name has come; callers take turns. Rejects as `Bulkhead.enter`
   * does.
   */
  async take<T>(name: string, work: Work, run: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(name) ?? new Bulkhead(options);
    this.#turns.set(name, turns);
    try {
      return await turns.within(work, run);
    } finally {
      const { running, waiting } = turns.state;
      if (running + waiting === 0) this.#turns.delete(name);
    }
  }
}
