// Bytes of large answers that a process holds at a time: while their rows are read, and until they
// have gone out (architecture.md "Work is bounded": bytes).
import { fail, unavailable } from "../contract/errors.js";
import type { Payer } from "../ports/work.js";
import { monotonicMillis } from "../ports/ambient.js";

/** Smaller answers are not counted: the number of connections bounds them. */
const smallBytes = 64 * 1024;
/** If others need room, an answer that nobody has read for so many milliseconds is ended. */
const unreadMillis = 5_000;

/** What one answer holds. */
export class HeldAnswer {
  readonly #budget: AnswerBudget;
  readonly payer: string;
  /**
   * Reads of the service itself are not counted: no answer is sent whose end would give the room
   * back.
   */
  readonly #isCounted: boolean;
  bytes = 0;
  #isReleased = false;
  /** Since when it has waited for its reader, and how to end it. */
  waiting: { readonly since: number; readonly end: () => void } | undefined;

  constructor(budget: AnswerBudget, payer: Payer | null) {
    this.#budget = budget;
    this.payer = payer?.key ?? "";
    this.#isCounted = payer !== null;
  }

  /**
   * Says how many bytes the answer has so far. Throws `core.unavailable` if there is no room for
   * them, and `core.timeout` once nobody waits for it any more.
   */
  grow(bytes: number): void {
    if (this.#isReleased) throw fail("core.timeout");
    if (this.#isCounted && bytes > smallBytes && bytes > this.bytes) this.#budget.grow(this, bytes);
  }

  /** From now on the answer waits for its reader; `end` ends it. */
  waits(end: () => void): void {
    if (this.bytes > 0) this.waiting = { since: monotonicMillis(), end };
  }

  release(): void {
    this.#isReleased = true;
    this.#budget.release(this);
  }
}

/** The budget of a process. One payer holds at most half of it. */
export class AnswerBudget {
  readonly #most: number;
  readonly #held = new Set<HeldAnswer>();
  readonly #byPayer = new Map<string, number>();
  #bytes = 0;
  #refused = 0;
  #ended = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes held, answers refused because there was no room, and answers ended to make room. */
  get state(): { readonly bytes: number; readonly refused: number; readonly ended: number } {
    return { bytes: this.#bytes, refused: this.#refused, ended: this.#ended };
  }

  open(payer: Payer | null): HeldAnswer {
    return new HeldAnswer(this, payer);
  }

  grow(answer: HeldAnswer, bytes: number): void {
    const more = bytes - answer.bytes;
    const isTooMuch = (): boolean =>
      this.#bytes + more > this.#most ||
      (this.#byPayer.get(answer.payer) ?? 0) + more > this.#most / 2;
    if (isTooMuch()) this.#endUnread();
    if (isTooMuch()) {
      this.#refused += 1;
      throw unavailable();
    }
    this.#count(answer, more);
    this.#held.add(answer);
  }

  release(answer: HeldAnswer): void {
    if (!this.#held.delete(answer)) return;
    this.#count(answer, -answer.bytes);
    answer.waiting = undefined;
  }

  #count(answer: HeldAnswer, more: number): void {
    answer.bytes += more;
    this.#bytes += more;
    const ofPayer = (this.#byPayer.get(answer.payer) ?? 0) + more;
    if (ofPayer > 0) this.#byPayer.set(answer.payer, ofPayer);
    else this.#byPayer.delete(answer.payer);
  }

  #endUnread(): void {
    const before = monotonicMillis() - unreadMillis;
    for (const answer of this.#held) {
      const { waiting } = answer;
      if (waiting === undefined || waiting.since > before) continue;
      this.#ended += 1;
      this.release(answer);
      waiting.end();
    }
  }
}
