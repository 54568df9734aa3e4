// Prepared statements by their text, in least-recently-used order.

/** Keeps up to `most` statements. One that is dropped is finalized when it is garbage-collected. */
export class StatementCache<Statement> {
  readonly #most: number;
  readonly #prepare: (text: string) => Statement;
  readonly #known = new Map<string, Statement>();

  constructor(most: number, prepare: (text: string) => Statement) {
    this.#most = most;
    this.#prepare = prepare;
  }

  /** The statement of a text, prepared if it is not in the cache. Throws what preparing throws. */
  get(text: string): Statement {
    const known = this.#known.get(text);
    if (known !== undefined) {
      this.#known.delete(text);
      this.#known.set(text, known);
      return known;
    }
    const statement = this.#prepare(text);
    this.#known.set(text, statement);
    if (this.#known.size > this.#most) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return statement;
  }

  forget(text: string): void {
    this.#known.delete(text);
  }

  clear(): void {
    this.#known.clear();
  }
}
