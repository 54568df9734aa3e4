// The ambient of a process: both its clocks, its timers, its randomness. The rest of the runtime
// asks here (`test/architecture/clock.test.ts`), so that time and chance have one door each.
import { randomBytes, randomUUID } from "node:crypto";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";

/** The wall clock, in epoch milliseconds. For dates; it jumps when somebody sets the time. */
export function epochMillis(): number {
  return Date.now();
}

/** The monotonic clock, in milliseconds since the process began. For durations and deadlines. */
export function monotonicMillis(): number {
  return performance.now();
}

/** Calls `work` once, after so many milliseconds (at most 2³¹ − 1). End it with `clearTimeout`. */
export function startTimer(work: () => void, millis: number | undefined): NodeJS.Timeout {
  return setTimeout(work, millis);
}

/** Calls `work` every so many milliseconds. End it with `clearInterval`. */
export function startInterval(work: () => void, millis: number): NodeJS.Timeout {
  return setInterval(work, millis);
}

/** Calls `work` on the next turn of the event loop, after the input that has arrived by now. */
export function runNextTurn(work: () => void): void {
  setImmediate(work);
}

/** Resolves on the next turn of the event loop. */
export async function nextTurn(): Promise<void> {
  await turn();
}

/**
 * Resolves to `value` after so many milliseconds; rejects with an `AbortError` if `signal` aborts
 * before. With `ref: false`, the wait doesn't keep the process alive.
 */
export function sleep<Value = void>(
  millis?: number,
  value?: Value,
  options?: { readonly signal?: AbortSignal; readonly ref?: boolean },
): Promise<Value> {
  return wait(millis, value as Value, options);
}

/** So many bytes that nobody can guess. */
export function drawBytes(size: number): Buffer {
  return randomBytes(size);
}

/** A random UUID (RFC 9562 §5.4, version 4). */
export function drawUuid(): string {
  return randomUUID();
}

/** A fraction from 0 up to 1, for jitter. Somebody who tries can guess it. */
export function drawFraction(): number {
  return Math.random();
}
