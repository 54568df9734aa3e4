// The pump under hints that are lost, doubled and reordered, and readers that stall: a model that a
// reader believes at a glance.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Pump, type MailboxReads, type PumpSource, type Sink } from "./pump.js";
import type { MailboxEntry } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const eventId = "01890000-0000-7000-8000-000000000000";

/** A mailbox that entries are put into, and a sink that may be full. */
function world() {
  const entries: MailboxEntry[] = [];
  const written: (number | null)[] = [];
  const refused: string[] = [];
  let isFull = false;
  let drained: (() => void)[] = [];
  const sink: Sink = {
    hasEnded: false,
    isWritable: () => !isFull,
    writable: () => new Promise((resolve) => drained.push(resolve)),
    write: ({ position }) => written.push(position),
    refuse: (code) => void refused.push(code),
  };
  return {
    written,
    refused,
    sink,
    mailbox: {
      async read(_owner: unknown, after: number, limit: number) {
        // What is there when the read begins; it takes a while.
        const found = entries.filter(({ position }) => position > after).slice(0, limit);
        await tick();
        return found;
      },
      state: async () => ({ head: entries.length, floor: 0, cursor: null }),
    },
    add() {
      const entry = {
        position: entries.length + 1,
        eventId,
        name: "e",
        data: "{}",
        shape: null,
        traceparent: null,
      };
      entries.push(entry);
      return Signal.ofEntry(entry);
    },
    fill(full: boolean) {
      isFull = full;
      if (full) return;
      for (const resolve of drained.splice(0)) resolve();
      drained = [];
    },
  };
}

/** A pump of a mailbox, from behind a position on. */
function pumpOf(mailbox: Pick<MailboxReads, "read" | "state">, sink: Sink, after: number): Pump {
  const source: PumpSource = {
    mailbox: () => ({ ...mailbox, has: async () => false }),
    tell: Signal.ofEntry,
    wrote: () => undefined,
    onFault: () => undefined,
  };
  return new Pump(source, { tenant: "t", principalId: "p" }, sink, after);
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant("add and hint" as const) },
  { weight: 2, arbitrary: fc.constant("add, the hint is lost" as const) },
  { weight: 1, arbitrary: fc.constant("hint again" as const) },
  { weight: 1, arbitrary: fc.constant("hint late" as const) },
  { weight: 2, arbitrary: fc.constant("stall" as const) },
  { weight: 2, arbitrary: fc.constant("drain" as const) },
  { weight: 6, arbitrary: fc.constant("wait" as const) },
);

test("every entry is written once and in order, whatever becomes of the hints", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 250 }),
      fc.array(step, { maxLength: 120 }),
      async (before, steps) => {
        const { written, refused, sink, mailbox, add, fill } = world();
        for (let count = 0; count < before; count += 1) add();
        const pump = pumpOf(mailbox, sink, 0);
        void pump.start();
        const late: Signal[] = [];
        let count = before;
        let last: Signal | undefined;
        for (const what of steps) {
          if (what === "add and hint" || what === "add, the hint is lost") {
            last = add();
            count += 1;
            if (what === "add and hint") pump.hint(last);
            else late.push(last);
          } else if (what === "hint again" && last !== undefined) pump.hint(last);
          else if (what === "hint late") {
            const one = late.shift();
            if (one !== undefined) pump.hint(one);
          } else if (what === "stall") fill(true);
          else if (what === "drain") fill(false);
          else await tick();
        }
        // The reader reads again, and the position check finds what every hint has lost.
        fill(false);
        pump.wants(count);
        for (let waited = 0; pump.sent < count && waited < 1_000; waited += 1) await tick();
        expect(refused).toEqual([]);
        expect(written).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      },
    ),
    { numRuns: 1_000 },
  );
}, 60_000);

test("entries that are gone are told of, and the rest follows", async () => {
  const { written, sink, mailbox, add } = world();
  for (let count = 0; count < 5; count += 1) add();
  const kept = {
    read: async (owner: unknown, after: number, limit: number) =>
      mailbox.read(owner, Math.max(after, 3), limit),
    state: async () => ({ head: 5, floor: 3, cursor: null }),
  };
  const pump = pumpOf(kept, sink, 1);
  await pump.start();
  expect(written).toEqual([null, 4, 5]);
});

test("a hole between entries is told of where it is", async () => {
  const { written, sink, mailbox, add } = world();
  for (let count = 0; count < 4; count += 1) add();
  const holed = {
    ...mailbox,
    read: async (owner: unknown, after: number, limit: number) =>
      (await mailbox.read(owner, after, limit)).filter(({ position }) => position !== 2),
  };
  const pump = pumpOf(holed, sink, 0);
  await pump.start();
  expect(written).toEqual([1, null, 3, 4]);
});

test("nothing is written to a connection that ended while the mailbox was read", async () => {
  const { written, sink, mailbox, add } = world();
  for (let count = 0; count < 3; count += 1) add();
  let hasEnded = false;
  const ending = {
    isWritable: sink.isWritable,
    writable: sink.writable,
    write: sink.write,
    refuse: sink.refuse,
    get hasEnded() {
      return hasEnded;
    },
  };
  const running = pumpOf(mailbox, ending, 1).start();
  hasEnded = true;
  await running;
  expect(written).toEqual([]);
});

test("a mailbox that can't be read ends the connection", async () => {
  const { refused, sink, mailbox } = world();
  const broken = { ...mailbox, read: () => Promise.reject(new Error("broken")) };
  await pumpOf(broken, sink, 0).start();
  expect(refused).toEqual(["core.internal"]);
});
