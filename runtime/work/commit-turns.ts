// Transactions of an author's own that one invocation begins: one after another, since two at once
// would write into each other.

/**
 * Whose turn it is. What follows a transaction may begin others before the turns that wait behind
 * it.
 */
export class CommitTurns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a transaction, with what follows it, once those before it have ended. */
  take<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Does what follows a transaction within its turn: what this begins must not wait for the end of
   * that turn.
   */
  async follow(work: () => Promise<void>): Promise<void> {
    const waiting = this.#last;
    this.#last = Promise.resolve();
    await work();
    let last: Promise<unknown> | undefined;
    while (last !== this.#last) {
      last = this.#last;
      await last;
    }
    this.#last = waiting;
  }
}
