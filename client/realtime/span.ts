// What lines over a socket have in common: they open once and end once, and whoever still waits for
// an answer is refused.
import { ApiError, errorOf } from "../core.js";
import type { Ending, Receiver } from "./port.js";

/** The service's answer to a question. */
export interface LineAnswer {
  readonly data?: unknown;
  readonly error?: unknown;
}

/** The time in which a line is open. */
export class Span {
  readonly #receiver: Receiver;
  /** Refuses those who wait for an answer. */
  readonly #waiting = new Set<(error: ApiError) => void>();
  isOpen = false;
  isOver = false;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /**
   * Asks by `send`, which is given what takes the answer. Rejects with `client.network` if the line
   * ends first.
   */
  ask(send: (take: (answer: LineAnswer) => void) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new ApiError("client.network", "the connection has ended"));
      this.#waiting.add(reject);
      send(({ data, error }) => {
        this.#waiting.delete(reject);
        if (error === undefined) resolve(data);
        else reject(errorOf(error));
      });
    });
  }

  /** Ends it, and tells the receiver unless it has ended already. */
  end(ending: Ending): void {
    if (this.stop()) this.#receiver.ended(ending);
  }

  /** Ends it without telling the receiver. Returns false if it has ended already. */
  stop(): boolean {
    if (this.isOver) return false;
    [this.isOpen, this.isOver] = [false, true];
    for (const reject of this.#waiting)
      reject(new ApiError("client.network", "the connection ended before the answer"));
    return true;
  }
}
