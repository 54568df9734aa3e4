// Repeated work: one at a time, on after a fault, not after its stop.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { repeat } from "./repeat.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unexpected = (error: unknown): void => {
  throw error;
};

test("work that is still under way is not begun again", async () => {
  let begun = 0;
  const ends: (() => void)[] = [];
  const repeated = repeat(
    100,
    () =>
      new Promise<void>((resolve) => {
        begun += 1;
        ends.push(resolve);
      }),
    unexpected,
  );
  await vi.advanceTimersByTimeAsync(350);
  expect(begun).toBe(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toBe(2);
  repeated.stop();
});

test("a fault is told of, and the work goes on", async () => {
  const faults: unknown[] = [];
  let begun = 0;
  const work = (): void => {
    begun += 1;
    if (begun === 1) throw new Error("once");
  };
  const repeated = repeat(100, work, (error) => faults.push(error));
  await vi.advanceTimersByTimeAsync(200);
  expect([begun, faults]).toEqual([2, [new Error("once")]]);
  repeated.stop();
});

test("what is stopped begins no more", async () => {
  let begun = 0;
  const repeated = repeat(100, () => void (begun += 1), unexpected);
  await vi.advanceTimersByTimeAsync(100);
  repeated.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(1);
});
