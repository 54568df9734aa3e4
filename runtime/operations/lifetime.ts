// How long one invocation may run: its deadline and its caller's patience (decisions.md "Idempotency, deadlines, metadata").
import { fail } from "../contract/errors.js";

/** Ends an invocation at its deadline or when the caller has gone. The AbortSignal is made on first use only. */
export class Lifetime {
  readonly #deadlineAt: number;
  readonly #isCallerGone: () => boolean;
  readonly #onCallerGone: ((listener: () => void) => void) | undefined;
  #controller: AbortController | undefined;
  #isDecided = false;

  /** `deadlineAt` is epoch milliseconds, or Infinity for none. */
  constructor(
    deadlineAt: number,
    caller: {
      readonly isGone: () => boolean;
      readonly onGone?: (listener: () => void) => void;
    },
  ) {
    this.#deadlineAt = deadlineAt;
    this.#isCallerGone = caller.isGone;
    this.#onCallerGone = caller.onGone;
  }

  /** A lifetime that never ends, for work that the service itself starts. */
  static unlimited(): Lifetime {
    return new Lifetime(Infinity, { isGone: () => false });
  }

  /** Milliseconds until the deadline, Infinity where there is none. */
  get remainingMillis(): number {
    return this.#deadlineAt - Date.now();
  }

  get hasDeadline(): boolean {
    return this.#deadlineAt !== Infinity;
  }

  /** Aborts at the deadline and when the caller goes away. */
  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    this.#onCallerGone?.(() => controller.abort(fail("core.timeout")));
    if (this.hasDeadline) {
      const timer = setTimeout(
        () => controller.abort(fail("deadline_exceeded")),
        Math.min(Math.max(this.remainingMillis, 0), 0x7fffffff),
      );
      timer.unref();
    }
    return controller.signal;
  }

  /** From here on the commit is under way: the deadline no longer ends the invocation, whose answer is the commit's. */
  decide(): void {
    this.#isDecided = true;
  }

  /** Throws once the invocation is over. Called right before a commit, so that nothing commits after the deadline. */
  throwIfOver(): void {
    if (this.remainingMillis <= 0) throw fail("deadline_exceeded");
    if (this.#isCallerGone()) throw fail("core.timeout");
  }

  /** Settles as `work` does, or rejects with `deadline_exceeded` at the deadline, whichever is first. */
  race<T>(work: Promise<T>): Promise<T> {
    return this.hasDeadline ? this.#raced(work) : work;
  }

  async #raced<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          if (!this.#isDecided) reject(fail("deadline_exceeded"));
        },
        Math.min(Math.max(this.remainingMillis, 0), 0x7fffffff),
      );
    });
    try {
      return await Promise.race([work, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }
}
