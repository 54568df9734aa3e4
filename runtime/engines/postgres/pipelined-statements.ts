// Statements of a transaction that were sent and nobody waits for: how much of them may be under
// way, and which error they came to first.
import type { Answered, Statement } from "./statements.js";

/** How many may be under way, and characters of their values. */
const mostStatements = 32;
const mostCharacters = 4_000_000;

/** A statement in its turn. The answer is wrapped, so that whoever sends doesn't wait for it. */
export interface Sent {
  readonly answer: Promise<Answered>;
}

interface UnderWay {
  readonly sent: Promise<Sent>;
  /** Resolves in any case. */
  readonly answered: Promise<unknown>;
}

export class PipelinedStatements {
  readonly #underWay = new Set<UnderWay>();
  #characters = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Whether one more has to wait for its answer. */
  isFull(statement: Statement): boolean {
    const isMany = this.#underWay.size >= mostStatements;
    return isMany || this.#characters + sizeOf(statement) > mostCharacters;
  }

  /** Adds one that is being sent. */
  add(statement: Statement, sent: Promise<Sent>): void {
    const note = (error: unknown): void => void (this.#failure ??= { error });
    // It is known before whoever waits for a later statement is told of that.
    const answered = sent.then(({ answer }) => answer.then(() => undefined, note), note);
    const one: UnderWay = { sent, answered };
    const size = sizeOf(statement);
    this.#underWay.add(one);
    this.#characters += size;
    void answered.then(() => {
      this.#underWay.delete(one);
      this.#characters -= size;
    });
  }

  /** Resolves once all have been sent; rejects if one can't be, or if one has failed. */
  async allSent(): Promise<void> {
    for (const { sent } of this.#underWay) await sent;
    this.throwFailure();
  }

  /** Resolves once all are answered. */
  async allAnswered(): Promise<void> {
    for (const { answered } of this.#underWay) await answered;
  }

  /** The error to tell of a later statement: where one of these has failed, that is why. */
  causeOf(error: unknown): unknown {
    return this.#failure === undefined ? error : this.#failure.error;
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Call it when what has failed is undone. */
  forgetFailure(): void {
    this.#failure = undefined;
  }
}

/** About how many characters the values of a statement have. */
function sizeOf({ values = [] }: Statement): number {
  return values.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 8), 0);
}
