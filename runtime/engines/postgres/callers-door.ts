// Whether callers get connections to PostgreSQL: those of the service itself may be all that the
// server grants.
import { ServiceError } from "../../contract/errors.js";
import { DatabaseRefusal } from "../../ports/database.js";
import type { Lifetime } from "../../ports/lifetime.js";
import type { Work } from "../../ports/work.js";

/** A connection that was taken. */
interface Taken {
  query(statement: { readonly text: string }, lifetime: Lifetime): Promise<unknown>;
  release(): void;
}

/** Takes a connection; `left` is called once it is given back. */
type Acquire<One> = (work: Work, left: () => void) => Promise<One>;

/** The door through which callers get connections, and the probe that goes through it, too. */
export class CallersDoor<One extends Taken> {
  readonly #acquire: Acquire<One>;
  #held = 0;
  /** Whether the last connection that was asked for was refused. */
  #isRefused = false;

  constructor(acquire: Acquire<One>) {
    this.#acquire = acquire;
  }

  /** Takes a connection for a caller. */
  async enter(work: Work): Promise<One> {
    try {
      const connection = await this.#acquire(work, () => (this.#held -= 1));
      this.#held += 1;
      this.#isRefused = false;
      return connection;
    } catch (error) {
      this.#isRefused ||= error instanceof ServiceError && error.cause instanceof DatabaseRefusal;
      throw error;
    }
  }

  /**
   * Rejects if callers get none. One that holds a connection shows that they do: that all are in
   * use is no fault.
   */
  async probe(work: Work): Promise<void> {
    if (this.#held > 0 && !this.#isRefused) return;
    const connection = await this.enter(work);
    try {
      await connection.query({ text: "SELECT 1" }, work.lifetime);
    } finally {
      connection.release();
    }
  }
}
