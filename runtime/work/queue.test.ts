// The queue of claimed work: attempts, waits, the last failure, and a stop in the middle.
import { expect, test } from "vitest";
import { StandingClock } from "../testing/clock.js";
import { systemClock, type Clock } from "../ports/clock.js";
import type { Lifetime } from "../ports/lifetime.js";
import { silentLog } from "../ports/log.js";
import { messageOf } from "../operations/thrown.js";
import { waitMillis } from "./backoff.js";
import { startQueue, type AttemptEnd, type QueueUse } from "./queue.js";

interface Item {
  readonly id: string;
  readonly attempt: number;
}

const failed: AttemptEnd = { reason: "no", isAnswered: false, isFinal: false };
const done: AttemptEnd = { ...failed, reason: null };
const backoff = { firstMillis: 1_000, longestMillis: 5_000, leastShare: 0.5 };

/** Works on these items until one has ended, and returns what was noted. */
async function noted(
  items: readonly Item[],
  attempt: QueueUse<Item, AttemptEnd>["attempt"],
  { stopsAtOnce = false, clock = systemClock }: { stopsAtOnce?: boolean; clock?: Clock } = {},
): Promise<readonly string[]> {
  const notes: string[] = [];
  const left = [items];
  let freed = 0;
  let tellEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (tellEnd = resolve));
  const note = async (text: string): Promise<void> => {
    if (notes.push(text) === items.length) tellEnd();
  };
  const queue = startQueue<Item, AttemptEnd>({
    clock,
    log: silentLog,
    maxAttempts: 3,
    backoff,
    messages: { unread: "unread", unnoted: "unnoted" },
    waitsFor: "the other side",
    endBy: (fault) => ({ ...failed, reason: messageOf(fault) }),
    async claim() {
      const batch = left.pop();
      return batch === undefined
        ? null
        : { batches: [{ items: batch, end: () => (freed += 1) }], isMore: false };
    },
    attempt,
    settle: ({ id }, { reason }, at, dueAt) =>
      note(`${id} ${reason ?? "done"} ${dueAt === null ? "over" : dueAt > at ? "later" : "now"}`),
    release: ({ id }) => note(`${id} released`),
  });
  if (!stopsAtOnce) await ended;
  await queue.stop(stopsAtOnce ? 100 : 1_000);
  expect(freed).toBe(1);
  return notes.toSorted();
}

test("what is done is over, a failure is due later, and the last one is over", async () => {
  const items = [1, 2, 3].map((attempt) => ({ id: `failing ${attempt}`, attempt }));
  const all = [{ id: "working", attempt: 3 }, ...items];
  const notes = await noted(all, async ({ id }) => (id === "working" ? done : failed));
  expect(notes).toEqual([
    "failing 1 no later",
    "failing 2 no later",
    "failing 3 no over",
    "working done over",
  ]);
});

test("a final failure is over at once", async () => {
  const notes = await noted([{ id: "one", attempt: 1 }], async () => ({
    ...failed,
    isFinal: true,
  }));
  expect(notes).toEqual(["one no over"]);
});

test("an attempt that the stop has ended is given back, unless the other side had answered", async () => {
  const items = ["cut", "answered"].map((id) => ({ id, attempt: 1 }));
  const attempt = ({ id }: Item, { signal }: Lifetime): Promise<AttemptEnd> =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ ...failed, isAnswered: id === "answered" })),
    );
  expect(await noted(items, attempt, { stopsAtOnce: true })).toEqual([
    "answered no later",
    "cut released",
  ]);
});

test("an attempt that never ends has failed once its time is over", async () => {
  const clock = new StandingClock(0);
  const attempt = (): Promise<never> => {
    setTimeout(() => void clock.moveTo(20_000), 20);
    return new Promise(() => undefined);
  };
  const [note] = await noted([{ id: "hanging", attempt: 3 }], attempt, { clock });
  expect(note).toBe("hanging the other side took longer than 20 s over");
});

test("an attempt that rejects has failed", async () => {
  const attempt = (): Promise<never> => Promise.reject(new Error("broken"));
  expect(await noted([{ id: "one", attempt: 1 }], attempt)).toEqual(["one broken later"]);
});

test("waits double up to the longest, and stay within their bounds", () => {
  for (const [attempt, longest] of [
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 5_000],
    [60, 5_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => waitMillis(backoff, attempt));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(longest / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(longest);
  }
});
