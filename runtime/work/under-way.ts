// Invocations that are under way in this process, and the last that have ended: whoever finds a
// fault that nobody holds asks which of them it may belong to.

interface Invoked {
  readonly operationId: string;
  readonly metadata: { readonly requestId: string };
  /** Its place among those that run; `nowhere` before and after. */
  placeUnderWay: number;
}

export const nowhere = -1;

/** An invocation by its names. */
export interface InvocationName {
  readonly operation: string;
  readonly requestId: string;
}

/** How many are remembered after their end. */
const remembered = 64;

export class UnderWay {
  /** Each knows its place: a set, which is hashed, would take a twentieth of a small request. */
  readonly #running: Invoked[] = [];
  /**
   * By turns, so that the oldest is forgotten. Not the invocations themselves: they hold their
   * requests.
   */
  readonly #operations = Array.from({ length: remembered }, () => "");
  readonly #requests = Array.from({ length: remembered }, () => "");
  #ended = 0;

  begun(invocation: Invoked): void {
    if (invocation.placeUnderWay !== nowhere) return;
    invocation.placeUnderWay = this.#running.push(invocation) - 1;
  }

  ended(invocation: Invoked): void {
    const place = invocation.placeUnderWay;
    if (place === nowhere) return;
    invocation.placeUnderWay = nowhere;
    const last = this.#running.pop();
    if (last !== undefined && last !== invocation) {
      this.#running[place] = last;
      last.placeUnderWay = place;
    }
    const at = (this.#ended += 1) % remembered;
    this.#operations[at] = invocation.operationId;
    this.#requests[at] = invocation.metadata.requestId;
  }

  /** Those that run, then those that have ended, the last first. */
  *names(): Generator<InvocationName> {
    for (const { operationId, metadata } of this.#running)
      yield { operation: operationId, requestId: metadata.requestId };
    for (let back = 0; back < Math.min(remembered, this.#ended); back += 1) {
      const at = (this.#ended - back) % remembered;
      yield { operation: this.#operations[at] ?? "", requestId: this.#requests[at] ?? "" };
    }
  }
}

/** The invocations of this process. */
export const underWay = new UnderWay();
