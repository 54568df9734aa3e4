import { expect, test } from "vitest";
import { Lifetime } from "../ports/lifetime.js";
import { gatherReads } from "./gather-reads.js";

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Values by their keys, and what was read of them. */
function shelf() {
  const reads: (readonly string[])[] = [];
  const gathered = gatherReads(async (keys) => {
    reads.push(keys);
    await endOfTurn();
    if (keys.includes("broken")) throw new Error("broken");
    return new Map(keys.filter((key) => key !== "none").map((key) => [key, `value of ${key}`]));
  });
  const read = (key: string): Promise<string | undefined> => gathered(key, Lifetime.within(10_000));
  return { reads, read };
}

test("what is asked for in one turn is read at once, each key once", async () => {
  const { reads, read } = shelf();
  const first = [read("a"), read("b"), read("a"), read("none")];
  await endOfTurn();
  const second = read("a");
  expect(await Promise.all([...first, second])).toEqual([
    "value of a",
    "value of b",
    "value of a",
    undefined,
    "value of a",
  ]);
  expect(reads).toEqual([["a", "b", "none"], ["a"]]);
});

test("a read that fails is told to those who asked for it, and to nobody else", async () => {
  const { read } = shelf();
  const failing = [read("a"), read("broken")];
  await endOfTurn();
  const told = await Promise.allSettled([...failing, read("a")]);
  expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});

test("more than fit into one read are read by several", async () => {
  const { reads, read } = shelf();
  const keys = Array.from({ length: 450 }, (_none, index) => `key ${index}`);
  expect(await Promise.all(keys.map((key) => read(key)))).toEqual(
    keys.map((key) => `value of ${key}`),
  );
  expect(reads.map(({ length }) => length)).toEqual([200, 200, 50]);
});

test("who asks waits no longer than it may, and the read ends with the last of them", async () => {
  let readLifetime: Lifetime | undefined;
  const gathered = gatherReads<string>((_keys, lifetime) => {
    readLifetime = lifetime;
    return new Promise((_resolve, reject) => lifetime.onOver(reject));
  });
  const [short, long] = [gathered("a", Lifetime.within(20)), gathered("b", Lifetime.within(120))];
  await expect(short).rejects.toMatchObject({ code: "deadline_exceeded" });
  expect(() => readLifetime?.throwIfOver()).not.toThrow();
  await expect(long).rejects.toMatchObject({ code: "deadline_exceeded" });
  expect(() => readLifetime?.throwIfOver()).toThrow();
});

test("a read that nobody waits for any more does not begin, and fails nobody", async () => {
  let reads = 0;
  const gathered = gatherReads<string>(async (_keys, lifetime) => {
    lifetime.throwIfOver();
    reads += 1;
    return new Map();
  });
  let leave = (): void => undefined;
  const caller = new Lifetime(Infinity, {
    isGone: () => false,
    onGone: (listener) => (leave = listener),
  });
  const asked = gathered("a", caller);
  caller.arm();
  leave();
  await expect(asked).rejects.toThrow();
  await endOfTurn();
  await endOfTurn();
  expect(reads).toBe(0);
});
