// A connection that is opened anew after the disk was in doubt.
import type { DiskDoubt } from "./disk-doubt.js";
import { translated } from "./faults.js";

interface Connection {
  close(): void;
}

/** One connection after the other. */
export class Renewed<C extends Connection> {
  readonly #open: () => C;
  readonly #doubt: DiskDoubt;
  #connection: C | undefined;
  #generation = 0;

  constructor(open: () => C, doubt: DiskDoubt) {
    this.#open = open;
    this.#doubt = doubt;
    this.#connection = open();
  }

  /** The connection, a new one where the last is of an earlier generation. Never while a transaction is open on it. */
  fresh(): C {
    const { generation } = this.#doubt;
    if (generation !== this.#generation) this.close();
    this.#generation = generation;
    try {
      return (this.#connection ??= this.#open());
    } catch (error) {
      this.#doubt.note(error);
      throw translated(error);
    }
  }

  /** The connection that `fresh` gave last. */
  get current(): C {
    return this.#connection ?? this.fresh();
  }

  close(): void {
    const closing = this.#connection;
    this.#connection = undefined;
    try {
      closing?.close();
    } catch {
      // There is nothing more to lose on it.
    }
  }
}
