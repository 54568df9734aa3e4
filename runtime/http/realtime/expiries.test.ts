// Credentials that expire: each in its time, whatever others share the moment.
import { expect, test } from "vitest";
import type { Clock } from "../../ports/clock.js";
import { Expiries } from "./expiries.js";

/** A clock that stands until it is moved. */
function standingClock() {
  let now = 1_000;
  let waiting: { readonly at: number; readonly work: () => unknown }[] = [];
  const clock: Clock = {
    now: () => now,
    after(millis, work) {
      const one = { at: now + millis, work };
      waiting.push(one);
      return () => {
        waiting = waiting.filter((other) => other !== one);
      };
    },
  };
  return {
    clock,
    timers: () => waiting.length,
    set(to: number) {
      now = to;
    },
    /** Timers that are due by `timers` fire, whatever the clock says. */
    move(to: number, by = to) {
      now = to;
      const due = waiting.filter(({ at }) => at <= by);
      waiting = waiting.filter(({ at }) => at > by);
      for (const { work } of due) work();
    },
  };
}

test("those of one moment share a timer, and each ends in its own", () => {
  const { clock, timers, move } = standingClock();
  const ended: string[] = [];
  const expiries = new Expiries(clock);
  const named = (name: string) => ({ expire: () => void ended.push(name) });
  const [ann, bob, cid, dan] = [named("ann"), named("bob"), named("cid"), named("dan")];
  expiries.add(2_000, ann);
  expiries.add(2_000, bob);
  expiries.add(3_000, cid);
  expiries.add(2_000, dan);
  expect(timers()).toBe(2);
  expiries.remove(2_000, dan);
  move(1_999);
  expect(ended).toEqual([]);
  move(2_000);
  expect(ended).toEqual(["ann", "bob"]);
  expiries.remove(3_000, cid);
  expect(timers()).toBe(0);
  move(3_000);
  expect(ended).toEqual(["ann", "bob"]);
});

test("a clock that is set back meanwhile ends nobody early", () => {
  const { clock, move, set } = standingClock();
  const ended: string[] = [];
  const expiries = new Expiries(clock);
  expiries.add(2_000, { expire: () => void ended.push("ann") });
  set(500);
  expiries.add(2_000, { expire: () => void ended.push("bob") });
  // The timer of the first, by the clock that it was started with.
  move(1_500, 2_000);
  expect(ended).toEqual([]);
  move(2_000);
  expect(ended).toEqual(["ann", "bob"]);
});

test("one whose time has passed ends at once, and may be removed afterwards", () => {
  const { clock, timers } = standingClock();
  const expiries = new Expiries(clock);
  let isEnded = false;
  const one = { expire: () => void (isEnded = true) };
  expiries.add(1_000, one);
  expect([isEnded, timers()]).toEqual([true, 0]);
  expiries.remove(1_000, one);
});
