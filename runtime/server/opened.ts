// What a start has opened so far: a stop closes it in the opposite order, and a start that fails
// leaves nothing open.
import { sleep } from "../ports/ambient.js";

/** How long a failed start waits for what it closes, in milliseconds. */
const closingMillis = 5_000;

/** How long what is under way may go on, in milliseconds. */
export interface Patience {
  readonly drainMillis: number;
  /** How long connections stay open after their last answer. */
  readonly lingerMillis: number;
}

const atOnce: Patience = { drainMillis: 0, lingerMillis: 0 };

/** What is open, and how each of it is closed: the order in which it was opened, said once. */
export class Opened {
  readonly #closers: ((patience: Patience) => unknown)[] = [];
  #closing: Promise<void> | undefined;

  /** `close` is called once: if the start fails, or with all others. */
  add(close: (patience: Patience) => unknown): void {
    this.#closers.push(close);
  }

  /**
   * Closes everything, the latest first, each also after another has failed to close; then this
   * rejects with the first fault.
   */
  close(patience = atOnce): Promise<void> {
    return (this.#closing ??= this.#closeAll(patience));
  }

  async #closeAll(patience: Patience): Promise<void> {
    const faults: unknown[] = [];
    for (const close of this.#closers.reverse())
      try {
        await close(patience);
      } catch (fault) {
        faults.push(fault);
      }
    if (faults.length > 0) throw faults[0];
  }
}

/**
 * Opens several things; if one of them can't be opened, those before it are closed, and this
 * rejects with its fault.
 */
export async function openAll<T>(open: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = new Opened();
  try {
    return await open(opened);
  } catch (fault) {
    // Why it didn't start is what counts, not what then fails to close or takes too long.
    const late = sleep(closingMillis, undefined, { ref: false });
    await Promise.race([opened.close().catch(() => undefined), late]);
    throw fault;
  }
}
