// How long one piece of work may run: its deadline and its caller's patience (decisions.md "Idempotency, deadlines, metadata").
import { fail, ServiceError } from "../contract/errors.js";

/** Whoever asked, and may leave. */
interface Caller {
  isGone(): boolean;
  /** Calls back when the caller goes; not where it has gone already. */
  onGone?(listener: () => void): void;
}

/** The longest timer that Node.js has. */
const longestMillis = 0x7fffffff;

/** Ends a piece of work at its deadline or when the caller has gone. Timers and signals are made on first use only. */
export class Lifetime {
  readonly #deadlineAt: number;
  readonly #caller: Caller;
  #listeners: ((reason: ServiceError) => void)[] = [];
  #isArmed = false;
  #timer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #reason: ServiceError | undefined;
  #isDecided = false;
  #isAnswering = false;

  /** `deadlineAt` is of the monotonic clock (`performance.now()`), which nobody sets; Infinity is none. */
  constructor(deadlineAt: number, caller: Caller) {
    this.#deadlineAt = deadlineAt;
    this.#caller = caller;
  }

  /** A lifetime that never ends. */
  static unlimited(): Lifetime {
    return new Lifetime(Infinity, nobody);
  }

  /** For work that the service itself starts, and gives up after so many milliseconds. */
  static within(millis: number): Lifetime {
    return new Lifetime(performance.now() + millis, nobody);
  }

  /** Milliseconds until the deadline, Infinity where there is none. */
  get remainingMillis(): number {
    return this.#deadlineAt - performance.now();
  }

  get hasDeadline(): boolean {
    return this.#deadlineAt !== Infinity;
  }

  /** Aborts at the deadline and when the caller goes away. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.onOver((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  /**
   * Calls `listener` once with `deadline_exceeded` at the deadline, or with `core.timeout` when the caller goes; at once
   * where that is so already. Returns how to take it back.
   */
  onOver(listener: (reason: ServiceError) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return nothing;
    }
    const listeners = this.#listeners;
    listeners.push(listener);
    // Most work is done within the tick that it began in, and needs no timer.
    if (listeners.length === 1 && arming.push(this) === 1) setImmediate(armAll);
    return () => {
      const at = listeners.indexOf(listener);
      if (at >= 0) listeners.splice(at, 1);
      if (listeners.length === 0) clearTimeout(this.#timer);
    };
  }

  /** Watches the deadline and the caller, where somebody still listens. */
  arm(): void {
    if (this.#listeners.length === 0 || this.#reason !== undefined) return;
    if (!this.#isArmed) this.#caller.onGone?.(() => this.#end(fail("core.timeout")));
    this.#isArmed = true;
    if (this.#caller.isGone()) this.#end(fail("core.timeout"));
    else this.#setTimer();
  }

  /** From here on the commit is under way: the deadline no longer ends the invocation, whose answer is the commit's. */
  decide(): void {
    this.#isDecided = true;
  }

  /** From here on the answer is on its way: how long that takes is the reader's matter, and the deadline ends nothing more. */
  answering(): void {
    this.#isAnswering = true;
    clearTimeout(this.#timer);
  }

  /** Throws once the work is over. Called right before a commit, so that nothing commits after the deadline. */
  throwIfOver(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.remainingMillis <= 0) throw fail("deadline_exceeded");
    if (this.#caller.isGone()) throw fail("core.timeout");
  }

  /** Settles as `work` does, or rejects when the lifetime is over, whichever is first. What is done already is returned. */
  race<T>(work: T | Promise<T>): T | Promise<T> {
    if (!(work instanceof Promise)) return work;
    if (!this.hasDeadline && this.#caller.onGone === undefined) return work;
    return new Promise<T>((resolve, reject) => this.settle(work, resolve, reject));
  }

  /** Calls one of two as `work` settles, or the second when the lifetime is over, whichever is first. Neither may throw. */
  settle<T>(
    work: Promise<T>,
    onValue: (value: T) => void,
    onReason: (reason: unknown) => void,
  ): void {
    let isOver = false;
    const off = this.onOver((reason) => {
      if (this.#isDecided) return;
      isOver = true;
      onReason(reason);
    });
    work.then(
      (value) => {
        off();
        if (!isOver) onValue(value);
      },
      (error: unknown) => {
        off();
        if (!isOver) onReason(error);
      },
    );
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    if (!this.hasDeadline || this.#isAnswering) return;
    const millis = Math.min(Math.max(this.remainingMillis, 0), longestMillis);
    this.#timer = setTimeout(() => {
      if (this.remainingMillis <= 0) this.#end(fail("deadline_exceeded"));
      else this.#setTimer();
    }, millis);
    // A deadline keeps no process alive.
    this.#timer.unref();
  }

  #end(reason: ServiceError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearTimeout(this.#timer);
    const listeners = this.#listeners.splice(0);
    for (const listener of listeners) listener(reason);
  }
}

/** Lifetimes that somebody began to watch in this tick. */
let arming: Lifetime[] = [];

function armAll(): void {
  const begun = arming;
  arming = [];
  for (const lifetime of begun) lifetime.arm();
}

const nobody: Caller = { isGone: () => false };

function nothing(): void {
  // There was nothing to take back.
}

/** Whether an error says that work has ended at its deadline, or with its caller. */
export function isOver(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === "deadline_exceeded" || error.code === "core.timeout")
  );
}
