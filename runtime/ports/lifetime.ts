// How long a piece of work may run: until its deadline, or until its caller disconnects
// (decisions.md "Idempotency, deadlines, metadata").
import { fail, ServiceError } from "../contract/errors.js";
import { Overdue, type WaitedFor } from "./overdue.js";
import { monotonicMillis, runNextTurn, startTimer } from "./ambient.js";
import { systemClock, type Clock } from "./clock.js";

/** Who waits for the work, and may disconnect before it is done. */
interface Caller {
  isGone(): boolean;
  /** Calls `listener` when the caller disconnects, but not if that has already happened. */
  onGone?(listener: () => void): void;
}

/**
 * The grace in which what follows an outcome has to settle, for a step at least, and where there is
 * no deadline.
 */
const settlingMillis = 5_000;
const leastSettlingMillis = 1_000;
const endlessSettlingMillis = 30_000;

/** The longest timer that Node.js supports. */
const longestMillis = 0x7fffffff;

interface Listening {
  readonly listener: (reason: ServiceError) => void;
  readonly waitsFor: WaitedFor | undefined;
}

/** Lifetimes by their signals, for engines that are given no more. */
const ofSignals = new WeakMap<AbortSignal, Lifetime>();

/**
 * Notes that work waits for something until the function that this returns is called, if its signal
 * is that of a lifetime.
 */
export function noteWaiting(signal: AbortSignal | undefined, waitsFor: WaitedFor): () => void {
  const lifetime = signal === undefined ? undefined : ofSignals.get(signal);
  return lifetime?.onOver(doNothing, waitsFor) ?? doNothing;
}

/**
 * Ends a piece of work at its deadline or when its caller disconnects. Timers and signals are only
 * made when they are needed.
 */
export class Lifetime {
  readonly #deadlineAt: number;
  readonly #caller: Caller;
  readonly #moved: MovedClock | undefined;
  #listeners: Listening[] = [];
  #isArmed = false;
  #arming: Arming | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cancelAlarm = doNothing;
  #controller: AbortController | undefined;
  #reason: ServiceError | undefined;
  #isDecided = false;
  #isOutcome = false;
  /** Who is to be told of the end once it is known that no commit decides the outcome. */
  #undecided: (() => void)[] = [];
  #settlesAt: number | undefined;
  #isAnswering = false;

  /**
   * `deadlineAt` is a time of the monotonic clock (`monotonicMillis`), in milliseconds; Infinity
   * is no deadline.
   */
  constructor(deadlineAt: number, caller: Caller, moved?: MovedClock) {
    this.#deadlineAt = deadlineAt;
    this.#caller = caller;
    this.#moved = moved;
  }

  /**
   * The lifetime of an invocation. Where a test moves the clock, it ends as well when that passes
   * the deadline.
   */
  static until(deadlineAt: number, caller: Caller, clock: Clock): Lifetime {
    if (clock.isMovedByTests !== true) return new Lifetime(deadlineAt, caller);
    const dueAt = clock.now() + deadlineAt - monotonicMillis();
    return new Lifetime(deadlineAt, caller, { clock, dueAt });
  }

  /** A lifetime that never ends. */
  static unlimited(): Lifetime {
    return new Lifetime(Infinity, nobody);
  }

  /** The lifetime of work that the service starts itself: it ends after so many milliseconds. */
  static within(millis: number, clock: Clock = systemClock): Lifetime {
    return Lifetime.until(monotonicMillis() + millis, nobody, clock);
  }

  /** Milliseconds until the deadline, negative after it; Infinity if there is none. */
  get remainingMillis(): number {
    const millis = this.#deadlineAt - monotonicMillis();
    return this.#moved === undefined ? millis : Math.min(millis, leftOf(this.#moved));
  }

  get hasDeadline(): boolean {
    return this.#deadlineAt !== Infinity;
  }

  /**
   * Milliseconds that the answer waits for a step behind the outcome: until the deadline, in all at
   * least a grace from the first such step on, and a little for each, so that one that never ends
   * keeps none behind it from being done.
   */
  get settlingMillis(): number {
    if (!this.hasDeadline) return endlessSettlingMillis;
    const now = monotonicMillis();
    this.#settlesAt ??= Math.max(this.#deadlineAt, now + settlingMillis);
    return Math.max(this.#settlesAt - now, leastSettlingMillis);
  }

  /**
   * Aborts at the deadline or when the caller disconnects; its reason is the same as for `onOver`.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      ofSignals.set(controller.signal, this);
      this.onOver((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  /**
   * Calls `listener` once: with `deadline_exceeded` at the deadline, or with `core.timeout` when
   * the caller disconnects. If the lifetime has ended, it is called at once. Returns a function
   * that takes the listener back. `waitsFor` is what the work waits for until then, such as `the
   * database`: an error at the deadline says so.
   */
  onOver(listener: (reason: ServiceError) => void, waitsFor?: WaitedFor): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return doNothing;
    }
    const listeners = this.#listeners;
    const listening = { listener, waitsFor };
    listeners.push(listening);
    // Most work ends in the tick in which it began. Waiting for the end of the tick saves its
    // timer.
    if (listeners.length === 1) this.#arming = armLater(this);
    return () => {
      const at = listeners.indexOf(listening);
      if (at >= 0) listeners.splice(at, 1);
      if (listeners.length > 0) return;
      this.#clearTimer();
      // Or else all that this tick has answered would stay in memory until its end.
      if (this.#arming !== undefined) this.#arming.lifetime = undefined;
    };
  }

  /** Begins to watch the deadline and the caller, if anybody still listens. */
  arm(): void {
    if (this.#listeners.length === 0 || this.#reason !== undefined) return;
    if (!this.#isArmed) this.#caller.onGone?.(() => this.#end(fail("core.timeout")));
    this.#isArmed = true;
    if (this.#caller.isGone()) this.#end(fail("core.timeout"));
    else this.#setTimer();
  }

  /**
   * Call it when a commit begins. From then on the deadline no longer ends the invocation, since
   * the commit decides its outcome: for good, or until `reopen`.
   */
  decide(): void {
    this.#isDecided = true;
  }

  /**
   * Call it before a commit that is the outcome of the whole invocation: what comes behind it
   * changes nothing, and the deadline does not end it.
   */
  expectOutcome(): void {
    this.#isOutcome = true;
  }

  /** Call it when the commit of a part has ended or failed: what comes behind has a deadline. */
  reopen(): void {
    if (this.#isOutcome) return;
    this.#isDecided = false;
    for (const tell of this.#undecided.splice(0)) tell();
  }

  /**
   * Call it when the answer is being sent. From then on the deadline ends nothing, because the
   * reader sets the pace.
   */
  answering(): void {
    this.#isAnswering = true;
    this.#clearTimer();
  }

  /** Whether the work is over. */
  get isOver(): boolean {
    return this.#reason !== undefined || this.remainingMillis <= 0 || this.#caller.isGone();
  }

  /**
   * Throws the reason once the work is over. Called right before a commit, so that nothing commits
   * after the deadline.
   */
  throwIfOver(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.remainingMillis <= 0) throw this.#overdue();
    if (this.#caller.isGone()) throw fail("core.timeout");
  }

  /**
   * Settles as `work` does, or rejects when the lifetime ends, whichever comes first. Anything but
   * a promise is returned.
   */
  race<T>(work: T | Promise<T>, waitsFor?: WaitedFor): T | Promise<T> {
    if (!(work instanceof Promise)) return work;
    if (!this.hasDeadline && this.#caller.onGone === undefined) return work;
    return new Promise<T>((resolve, reject) => this.settle(work, resolve, reject, waitsFor));
  }

  /**
   * The same for work whose own commit has not begun: it ends with the lifetime, whatever an
   * earlier commit has decided.
   */
  limit<T>(work: Promise<T>): Promise<T> {
    if (!this.hasDeadline && this.#caller.onGone === undefined) return work;
    return new Promise<T>((resolve, reject) => {
      const off = this.onOver(reject);
      work.then(
        (value) => {
          off();
          resolve(value);
        },
        (error: unknown) => {
          off();
          reject(error);
        },
      );
    });
  }

  /**
   * Calls `onValue` or `onReason` when `work` settles, or `onReason` when the lifetime ends,
   * whichever comes first. After `decide`, only `work` counts. Neither function may throw.
   */
  settle<T>(
    work: Promise<T>,
    onValue: (value: T) => void,
    onReason: (reason: unknown) => void,
    waitsFor?: WaitedFor,
  ): void {
    let isSettled = false;
    const end = (reason: unknown): void => {
      if (isSettled) return;
      isSettled = true;
      onReason(reason);
    };
    const off = this.onOver((reason) => {
      if (this.#isDecided) this.#undecided.push(() => end(reason));
      else end(reason);
    }, waitsFor);
    work.then(
      (value) => {
        off();
        if (isSettled) return;
        isSettled = true;
        onValue(value);
      },
      (error: unknown) => {
        off();
        end(error);
      },
    );
  }

  #setTimer(): void {
    this.#clearTimer();
    if (!this.hasDeadline || this.#isAnswering) return;
    const check = (): void => {
      if (this.remainingMillis <= 0) this.#end(this.#overdue());
      else this.#setTimer();
    };
    // Beside a clock that stands still, what is left by it comes no closer: its alarm ends it.
    const isOver = this.remainingMillis <= 0;
    const millis = isOver ? 0 : Math.ceil(this.#deadlineAt - monotonicMillis());
    this.#timer = startTimer(check, Math.min(millis, longestMillis));
    // A deadline must not keep the process alive.
    this.#timer.unref();
    if (this.#moved === undefined) return;
    this.#cancelAlarm = this.#moved.clock.after(leftOf(this.#moved), check);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#cancelAlarm();
  }

  /** The error at the deadline, whose cause names what the work has begun to wait for last. */
  #overdue(): ServiceError {
    const last = this.#listeners.findLast(({ waitsFor }) => waitsFor !== undefined);
    return fail("deadline_exceeded", {}, { cause: new Overdue(last?.waitsFor ?? "code") });
  }

  #end(reason: ServiceError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#clearTimer();
    const listeners = this.#listeners.splice(0);
    for (const { listener } of listeners) {
      try {
        listener(reason);
      } catch (error) {
        // As with listeners of a signal: the others are called, and the exception is nobody's but
        // its own.
        process.nextTick(raise, error);
      }
    }
  }
}

/** A clock that a test moves, and what it says at the deadline. */
interface MovedClock {
  readonly clock: Clock;
  readonly dueAt: number;
}

function leftOf({ clock, dueAt }: MovedClock): number {
  return dueAt - clock.now();
}

function raise(error: unknown): never {
  throw error;
}

/** A lifetime that got its first listener in this tick; undefined once it has none. */
interface Arming {
  lifetime: Lifetime | undefined;
}

let armings: Arming[] = [];

function armLater(lifetime: Lifetime): Arming {
  const arming = { lifetime };
  if (armings.push(arming) === 1) runNextTurn(armAll);
  return arming;
}

function armAll(): void {
  const begun = armings;
  armings = [];
  for (const { lifetime } of begun) lifetime?.arm();
}

const nobody: Caller = { isGone: () => false };

function doNothing(): void {
  // The listener was called at once, so there is nothing to take back; or there is nothing to end.
}

/** Whether an error says that work ended at its deadline or because its caller disconnected. */
export function isOver(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === "deadline_exceeded" || error.code === "core.timeout")
  );
}
