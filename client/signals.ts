// Signals to abort by, without `AbortSignal.any` and `AbortSignal.timeout`, which some platforms of
// clients lack.

import { ApiError } from "./error.js";

/** A timer holds 24 days; beyond them it would end at once. */
export function timerMillis(millis: number): number {
  return Math.min(millis, 2 ** 31 - 1);
}

/** Who waits for a signal: it has one listener, since Node.js warns of a leak at eleven. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Runs something when a signal aborts, or at once if it has. Returns its cancellation. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal === undefined || signal.aborted) {
    if (signal !== undefined) run();
    return () => undefined;
  }
  const waiting = listeners.get(signal) ?? new Set();
  // Each has an entry of its own, also where one function waits twice.
  const one = (): void => run();
  if (waiting.size === 0) {
    listeners.set(signal, waiting);
    signal.addEventListener("abort", tellAll);
  }
  waiting.add(one);
  return () => {
    waiting.delete(one);
    if (waiting.size === 0) signal.removeEventListener("abort", tellAll);
  };
}

function tellAll(this: AbortSignal): void {
  for (const run of listeners.get(this) ?? []) run();
}

/**
 * A controller that aborts with another signal as well. Once it has, it listens to that no more.
 */
export function followSignal(outer: AbortSignal | undefined): AbortController {
  const own = new AbortController();
  own.signal.addEventListener(
    "abort",
    onAbort(outer, () => own.abort(outer?.reason)),
  );
  return own;
}

/** What gives up answers whose bytes are read after the call. */
export const givesUp: WeakMap<object, AbortSignal | undefined> = new WeakMap();

/** Settles as the promise does, or rejects once the signal aborts. */
export function raceSignal<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).finally(forget);
  });
}

/** Waits; rejects with the reason of the signal where that comes first. */
export async function pause(millis: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, timerMillis(millis))));
  await (signal === undefined ? over : raceSignal(over, signal)).finally(() => clearTimeout(timer));
}

/**
 * Runs work that aborts after a while (`client.timeout`) or with another signal. With `goesOn`, the
 * other signal still aborts what the work has left running.
 */
export async function within<Result>(
  millis: number,
  work: (signal: AbortSignal) => Promise<Result>,
  outer?: AbortSignal,
  goesOn = false,
): Promise<Result> {
  const own = followSignal(outer);
  const end = (): void => own.abort(new ApiError("client.timeout", `no answer in ${millis} ms`));
  const timer = setTimeout(end, timerMillis(millis));
  try {
    return await work(own.signal);
  } catch (error) {
    // Nothing is left running. What has ended it before is why.
    own.abort(error);
    throw own.signal.reason;
  } finally {
    clearTimeout(timer);
    if (!goesOn) own.abort();
  }
}
