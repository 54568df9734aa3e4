// Bulkheads: shares, turns and ends of those who wait.
import { expect, test } from "vitest";
import { Bulkhead, type Leave } from "./bulkhead.js";
import { Lifetime } from "../ports/lifetime.js";
import type { Work } from "../ports/work.js";

const options = {
  what: "the database",
  size: 2,
  shareOf: () => 1,
  maxWaiting: 4,
  maxWaitingPerPayer: 3,
} as const;

function workOf(key: string | null, lifetime = Lifetime.unlimited()): Work {
  return { lifetime, payer: key === null ? null : { key, isAnonymous: true } };
}

/** Who has entered, in order. */
function entering(bulkhead: Bulkhead) {
  const order: string[] = [];
  const leaves = new Map<string, Leave>();
  return {
    order,
    enter: async (name: string, work: Work): Promise<void> => {
      const leave = await bulkhead.enter(work);
      order.push(name);
      leaves.set(name, leave);
    },
    leave: async (name: string): Promise<void> => {
      leaves.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("one payer holds its share, and another one finds a place at once", async () => {
  const { order, enter, leave } = entering(new Bulkhead(options));
  void enter("a1", workOf("a"));
  void enter("a2", workOf("a"));
  void enter("b1", workOf("b"));
  await leave("");
  expect(order).toEqual(["a1", "b1"]);
  await leave("b1");
  expect(order).toEqual(["a1", "b1"]);
  await leave("a1");
  expect(order).toEqual(["a1", "b1", "a2"]);
});

test("payers take turns, whatever the length of their queues", async () => {
  const { order, enter, leave } = entering(new Bulkhead({ ...options, size: 1 }));
  void enter("x", workOf("x"));
  void enter("a1", workOf("a"));
  void enter("a2", workOf("a"));
  void enter("a3", workOf("a"));
  void enter("b1", workOf("b"));
  await leave("");
  for (const name of ["x", "a1", "b1", "a2"]) await leave(name);
  expect(order).toEqual(["x", "a1", "b1", "a2", "a3"]);
});

test("the service itself may hold every place", async () => {
  const { order, enter, leave } = entering(new Bulkhead(options));
  void enter("s1", workOf(null));
  void enter("s2", workOf(null));
  await leave("");
  expect(order).toEqual(["s1", "s2"]);
});

test("the service itself goes first, also where nobody else may wait any more", async () => {
  const bulkhead = new Bulkhead({ ...options, size: 1, maxWaiting: 2 });
  const { order, enter, leave } = entering(bulkhead);
  void enter("a1", workOf("a"));
  void enter("a2", workOf("a"));
  void enter("b1", workOf("b"));
  expect(() => bulkhead.enter(workOf("c"))).toThrow();
  void enter("s1", workOf(null));
  await leave("");
  for (const name of ["a1", "s1", "b1"]) await leave(name);
  expect(order).toEqual(["a1", "s1", "b1", "a2"]);
});

test("who waits too long, and who finds too many waiting, is refused; places are not lost by it", async () => {
  const bulkhead = new Bulkhead({ ...options, size: 1, maxWaitingPerPayer: 1 });
  const leave = await bulkhead.enter(workOf("a"));
  const late = Promise.resolve(bulkhead.enter(workOf("a", Lifetime.within(20))));
  expect(() => bulkhead.enter(workOf("a"))).toThrow();
  await expect(late).rejects.toMatchObject({ code: "deadline_exceeded" });
  leave();
  leave();
  (await bulkhead.enter(workOf("b")))();
  expect(bulkhead.state).toMatchObject({ running: 0, waiting: 0, refused: 1 });
});
