// Work that goes one after another by name within a process, before it takes anything that others
// need.
import { unavailable } from "../contract/errors.js";
import type { Lifetime } from "../ports/lifetime.js";

/** How many may wait for one name. */
const maxWaiting = 256;

interface Turn {
  /** Resolves when those before it have ended, and it has. */
  ended: Promise<void>;
  waiting: number;
}

/** Turns of many names. */
export class NamedTurns {
  readonly #turns = new Map<string, Turn>();

  /**
   * Runs once all that came before under this name have ended. Rejects if the lifetime ends first,
   * and with `core.unavailable` if too many wait.
   */
  async take<T>(name: string, lifetime: Lifetime, run: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(name) ?? { ended: Promise.resolve(), waiting: 0 };
    if (turn.waiting >= maxWaiting) throw unavailable(new Error(`too many wait for ${name}`));
    this.#turns.set(name, turn);
    let end = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    const before = turn.ended;
    turn.ended = before.then(() => own);
    turn.waiting += 1;
    try {
      await lifetime.race(before);
      return await run();
    } finally {
      end();
      turn.waiting -= 1;
      if (turn.waiting === 0) this.#turns.delete(name);
    }
  }
}
