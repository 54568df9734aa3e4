// Signals to abort by, without `AbortSignal.any` and `AbortSignal.timeout`, which some platforms of clients lack.

import { ApiError } from "./error.js";

/** A timer holds 24 days; beyond them it would end at once. */
export function timerMillis(millis: number): number {
  return Math.min(millis, 2 ** 31 - 1);
}

/** A controller that aborts with another signal as well. Once it has, it listens to that no more. */
export function following(outer: AbortSignal | undefined): AbortController {
  const own = new AbortController();
  const leave = (): void => own.abort(outer?.reason);
  if (outer?.aborted === true) leave();
  outer?.addEventListener("abort", leave, own);
  return own;
}

/**
 * Does something that aborts after a while (`client.timeout`), or with another signal; what goes on afterwards still aborts
 * with that.
 */
export async function within<Result>(
  millis: number,
  work: (signal: AbortSignal) => Promise<Result>,
  outer?: AbortSignal,
  goesOn = false,
): Promise<Result> {
  const own = following(outer);
  const end = (): void => own.abort(new ApiError("client.timeout", `no answer in ${millis} ms`));
  const timer = setTimeout(end, timerMillis(millis));
  try {
    return await work(own.signal);
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    if (!goesOn) own.abort();
  }
}
