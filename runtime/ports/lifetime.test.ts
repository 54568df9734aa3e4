// Lifetimes beside a clock that a test moves.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { StandingClock } from "../testing/clock.js";
import { Lifetime } from "./lifetime.js";

/** A standing clock that counts its alarms. */
class CountingClock extends StandingClock {
  alarms = 0;

  override after(millis: number, work: () => void | Promise<void>): () => void {
    this.alarms += 1;
    return super.after(millis, work);
  }
}

/** Resolves once a lifetime has ended. */
function overOf(lifetime: Lifetime): Promise<string> {
  return new Promise((resolve) => lifetime.onOver(({ code }) => resolve(code)));
}

test("a clock that passes the deadline ends a lifetime, also before it is watched", async () => {
  const clock = new StandingClock(0);
  const watched = overOf(Lifetime.within(60_000, clock));
  await sleep(5);
  const fresh = overOf(Lifetime.within(60_000, clock));
  await clock.moveTo(60_000);
  expect(await Promise.all([watched, fresh])).toEqual(["deadline_exceeded", "deadline_exceeded"]);
});

test("a clock that stands right before the deadline is not asked again and again", async () => {
  const clock = new CountingClock(0);
  const over = overOf(Lifetime.within(60_000, clock));
  await clock.moveTo(59_999.5);
  await sleep(100);
  expect(clock.alarms).toBe(1);
  await clock.moveTo(60_000);
  expect(await over).toBe("deadline_exceeded");
});

test("real time ends a lifetime whose clock stands still", async () => {
  expect(await overOf(Lifetime.within(20, new StandingClock(0)))).toBe("deadline_exceeded");
});

test("an end that came while a commit decided is told once it is known to be a part", async () => {
  const outcomes: string[] = [];
  const watch = (lifetime: Lifetime, name: string): void =>
    lifetime.settle(
      new Promise(() => undefined),
      () => undefined,
      () => outcomes.push(name),
    );
  const [part, whole] = [Lifetime.within(20), Lifetime.within(20)];
  whole.expectOutcome();
  for (const [name, lifetime] of Object.entries({ part, whole })) {
    watch(lifetime, name);
    lifetime.decide();
  }
  await Promise.all([overOf(part), overOf(whole)]);
  expect(outcomes).toEqual([]);
  part.reopen();
  whole.reopen();
  expect(outcomes).toEqual(["part"]);
});
