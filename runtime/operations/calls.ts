// Calls that an author's code makes of the service, until they are done and somebody has awaited
// them. What is still under way when that code returns is a forgotten `await` (decisions.md §4
// "Forgotten awaits").
import { fail, ServiceError } from "../contract/errors.js";
import type { Log } from "../ports/log.js";
import { authorLine } from "./author-lines.js";
import { giveError } from "./given-errors.js";

/**
 * A promise that tells when somebody begins to wait for it. `await`, `Promise.all` and `return` do
 * so too.
 */
class CalledPromise<T> extends Promise<T> {
  whenAwaited: (() => void) | undefined;

  /** Contexts that are derived from it are the author's own. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise has one
  override then<A = T, B = never>(
    onValue?: ((value: T) => A | PromiseLike<A>) | null,
    onReason?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.whenAwaited?.();
    return super.then(onValue, onReason);
  }

  /** Has its rejection count as seen, and nothing else. */
  hold(): void {
    super.then(undefined, () => undefined);
  }
}

/** A call that is not done, or that nobody has awaited. */
export interface AuthorCall {
  /** The author's call, such as `collection(tasks).create`. */
  readonly what: string;
  /** Its number in the invocation. */
  readonly number: number;
  /** The stack of the call. */
  readonly trace: Error;
  isSettled: boolean;
  isAwaited: boolean;
  /** Whether the code that has begun it has returned without it. */
  isAbandoned: boolean;
}

/** The calls of one invocation. */
export class Calls {
  readonly #open = new Set<AuthorCall>();
  /** Work that goes on beside the code that has given it, by its number among the calls. */
  #beside: Map<number, Promise<void>> | undefined;
  #count = 0;
  #fault: ServiceError | undefined;
  #strays = 0;

  /** Whether calls go on that were left behind. */
  get hasStrays(): boolean {
    return this.#strays > 0;
  }

  /** How many there have been. */
  get count(): number {
    return this.#count;
  }

  /**
   * Begins a call. It settles only after the tick in which it was done: until then all code runs
   * that waits for nothing real, so that whether it comes before the call is done doesn't depend on
   * the engine. `unheld` learns why it failed if nobody had awaited it by then.
   */
  begin<T>(
    what: string,
    work: (call: AuthorCall) => Promise<T>,
    unheld?: (call: AuthorCall, error: unknown) => void,
  ): Promise<T> {
    const call: AuthorCall = {
      what,
      number: (this.#count += 1),
      trace: new Error(what),
      isSettled: false,
      isAwaited: false,
      isAbandoned: false,
    };
    this.#open.add(call);
    const settled = (): void => {
      call.isSettled = true;
      if (call.isAbandoned) this.#strays -= 1;
      if (call.isAwaited) this.#open.delete(call);
    };
    const promise = new CalledPromise<T>((resolve, reject) => {
      const done = (value: T): void => {
        settled();
        resolve(value);
      };
      const failed = (error: unknown): void => {
        settled();
        reject(giveError(error));
        if (!call.isAwaited) unheld?.(call, error);
      };
      work(call).then(
        (value) => process.nextTick(done, value),
        (error: unknown) => process.nextTick(failed, error),
      );
    });
    promise.whenAwaited = () => {
      call.isAwaited = true;
      if (call.isSettled) this.#open.delete(call);
    };
    promise.hold();
    return promise;
  }

  /** Holds work that goes on beside the code that has given it, and never rejects. */
  hold(work: Promise<void>): void {
    const number = (this.#count += 1);
    const beside = (this.#beside ??= new Map());
    beside.set(number, work);
    void work.then(() => beside.delete(number));
  }

  /**
   * Resolves once what is held since the first so many calls is done; undefined if nothing is.
   */
  heldAfter(first = 0): Promise<void> | undefined {
    // Nearly always.
    if (this.#beside === undefined) return undefined;
    const held = [...this.#beside].filter(([number]) => number > first);
    if (held.length === 0) return undefined;
    return Promise.all(held.map(([, work]) => work)).then(() => this.heldAfter(first));
  }

  /**
   * Refuses a call that begins too late. It is told even if somebody looks at it: no caller would
   * learn of it otherwise.
   */
  refuse<T>(what: string, tell: (call: AuthorCall, error: unknown) => void): Promise<T> {
    const late = hasReturned();
    return this.begin<T>(what, (call) => {
      tell(call, late);
      return Promise.reject(late);
    });
  }

  /**
   * Throws `core.internal` if calls are open that were begun after the first so many, or if some
   * were when a part had ended; `by` is the code that has returned.
   */
  expectNone(by: string, first = 0): void {
    const fault = this.#fault;
    const left = [...this.#open].filter(({ number }) => number > first);
    this.#abandon(left);
    this.#fault = undefined;
    if (fault !== undefined) throw fault;
    if (left.length > 0) throw forgotten(by, left);
  }

  /**
   * The same at the end of a part of a transaction, for calls that were begun after the first so
   * many. If it throws, so does the check of the whole, whatever becomes of this error: calls
   * beside the part may have been undone with it.
   */
  expectNoneAfter(first: number, by: string): void {
    const fault = this.#leftAfter(first, by);
    if (fault === undefined) return;
    this.#fault ??= fault;
    throw this.#fault;
  }

  /** Fails the next check, for what was begun by other means than a call. Returns the error. */
  fault(text: string): ServiceError {
    this.#fault ??= makeMissingAwait(text);
    return this.#fault;
  }

  /**
   * Runs what the author does in one transaction, which must not end before its calls have; `by` is
   * the operation.
   */
  async runWork<T>(call: AuthorCall, by: string, work: () => Promise<T>): Promise<T> {
    if (call.isAbandoned) throw forgotten(by, [call]);
    const first = this.#count;
    const made = await work();
    this.expectNoneAfter(first, `the work of context.commit in ${by}`);
    // Only then the code around it has gone on as far as it goes by itself, and may have returned.
    await untilIdle();
    if (call.isAbandoned) throw forgotten(by, [call]);
    return made;
  }

  /** The same at the end of what fails alone, such as work behind a commit. */
  expectNoneOf(first: number, by: string): void {
    const fault = this.#leftAfter(first, by);
    if (fault !== undefined) throw fault;
  }

  #leftAfter(first: number, by: string): ServiceError | undefined {
    const left = [...this.#open].filter(({ number }) => number > first);
    if (left.length === 0) return undefined;
    this.#abandon(left);
    return forgotten(by, left);
  }

  /**
   * What has failed with this error leaves its calls behind, those after the first so many. Returns
   * why it has failed, if a part had left calls before.
   */
  abandon(error?: unknown, first = 0): unknown {
    const fault = this.#fault;
    this.#abandon([...this.#open].filter(({ number }) => number > first));
    this.#fault = undefined;
    return fault ?? error;
  }

  #abandon(calls: readonly AuthorCall[]): void {
    for (const call of calls) {
      call.isAbandoned = true;
      if (!call.isSettled) this.#strays += 1;
      this.#open.delete(call);
    }
  }
}

/** Resolves once all code has run that waits for nothing real. */
export function untilIdle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Calls that the message names. */
const maxNamed = 3;

/** The error of code that returned before its calls were done and awaited. */
export function forgotten(by: string, calls: readonly AuthorCall[]): ServiceError {
  const named = calls.slice(0, maxNamed).map(describeCall);
  const more = calls.length > maxNamed ? ` and ${calls.length - maxNamed} more` : "";
  return makeMissingAwait(`${by} returned without waiting for ${named.join(", ")}${more}`);
}

function makeMissingAwait(text: string): ServiceError {
  return fail("core.internal", {}, { cause: new MissingAwait(`an await is missing: ${text}`) });
}

/** Why code has failed that returned before its calls were done and awaited. */
class MissingAwait extends Error {}

/** The text of an error about calls that were left behind; null if it is about none. */
export function missingAwait(error: unknown): string | null {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof MissingAwait ? cause.message : null;
}

/** A call, and its line. */
export function describeCall({ what, trace }: AuthorCall): string {
  const at = authorLine(trace);
  return at === undefined ? what : `${what} at ${at}`;
}

/** The error of a call that begins when the invocation is over, or goes on then. */
export function hasReturned(): ServiceError {
  const cause = new Error("an await is missing: the call went on after its operation had ended");
  return fail("core.internal", {}, { cause });
}

/** Logs a call that nobody looks at, and that has failed. */
export function tellUnheld(
  { operationId, metadata, log }: Told,
  call: AuthorCall,
  error: unknown,
): void {
  const line = { operation: operationId, requestId: metadata.requestId, err: error };
  log.error(line, `nobody awaits ${describeCall(call)}`);
}

/** Whose calls fail. */
interface Told {
  readonly operationId: string;
  readonly metadata: { readonly requestId: string };
  readonly log: Log;
}
