// Both buses: what one process sends the others hear, in order, whatever its size, and again after a cut.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openPostgresBus } from "../../runtime/engines/postgres/bus.js";
import { openRedisBus } from "../../runtime/engines/redis/bus.js";
import type { Log } from "../../runtime/ports/log.js";
import { silentLog } from "../../runtime/ports/log.js";
import type { BusMessage, SignalBus } from "../../runtime/ports/bus.js";
import { buses, type FreshBus } from "../support/bus-engines.js";

describe.each(buses.filter(({ isAvailable }) => isAvailable))("$name", (engine) => {
  let fresh: FreshBus;
  const open: SignalBus[] = [];
  beforeAll(async () => {
    fresh = await engine.create();
  });
  afterEach(async () => {
    for (const bus of open.splice(0)) await bus.close();
  });
  afterAll(() => fresh.drop());

  /** A bus that is connected, what it hears, and how often it came back. */
  const process = async (log: Log = silentLog) => {
    const heard: BusMessage[] = [];
    let resumed = 0;
    const bus = await fresh.open(log);
    open.push(bus);
    bus.listen({
      heard: (message) => heard.push(message),
      resumed: () => (resumed += 1),
      lost: () => undefined,
    });
    await expect.poll(() => resumed).toBe(1);
    return { bus, heard, resumed: () => resumed };
  };
  const signal = (data: string): BusMessage => ({
    kind: "signal",
    tenant: "t",
    to: { topic: "a" },
    name: "told",
    data,
    shape: "8e1f notes:3",
  });

  test("others hear all of it in order, the sender nothing", async () => {
    const [one, two, three] = [await process(), await process(), await process()];
    const sent = Array.from({ length: 300 }, (_none, index) => signal(String(index)));
    for (const message of sent) one.bus.send(message);
    const positions: BusMessage = { kind: "positions", mailboxes: [["t", "p", 7]] };
    two.bus.send(positions);
    await expect.poll(() => [two.heard.length, three.heard.length]).toEqual([300, 301]);
    expect(two.heard).toEqual(sent);
    expect(three.heard.filter(({ kind }) => kind === "signal")).toEqual(sent);
    expect(one.heard).toEqual([positions]);
  });

  test("a message may be larger than a notification, and of any text", async () => {
    const [one, two] = [await process(), await process()];
    const large = signal(JSON.stringify("ü😀\u0000'".repeat(200_000)));
    one.bus.send(large);
    one.bus.send(signal("after"));
    await expect.poll(() => two.heard.length, { timeout: 10_000 }).toBe(2);
    expect(two.heard).toEqual([large, signal("after")]);
  });

  test("a connection that is cut comes back, says so, and hears what is sent then", async () => {
    const [one, two] = [await process(), await process()];
    await fresh.cut();
    await expect.poll(() => [one.resumed(), two.resumed()], { timeout: 10_000 }).toEqual([2, 2]);
    one.bus.send(signal("again"));
    await expect.poll(() => two.heard).toEqual([signal("again")]);
  });

  test("a bus that is well stays connected, and has nothing to tell", async () => {
    const warnings: unknown[] = [];
    const noted = { ...silentLog, warn: (...entries: unknown[]) => void warnings.push(entries) };
    const [one, two] = [await process(noted), await process(noted)];
    // Its connections have been asked twice whether they are still there.
    await sleep(6_500);
    one.bus.send(signal("still"));
    await expect.poll(() => two.heard).toEqual([signal("still")]);
    expect([one.resumed(), two.resumed(), warnings]).toEqual([1, 1, []]);
  });

  test("foreign messages are ignored", async () => {
    const warnings: unknown[] = [];
    const noted = { ...silentLog, warn: (...entries: unknown[]) => void warnings.push(entries) };
    const [one, two] = [await process(), await process(noted)];
    const origin = "0123456789abcdef";
    const bad = ["", "x", `${origin}.1.1.2.aa`, `${origin}.2.0.1.bm8=`];
    for (const text of bad) await fresh.disturb(text);
    one.bus.send(signal("good"));
    await expect.poll(() => two.heard).toEqual([signal("good")]);
    expect(warnings.length).toBeGreaterThanOrEqual(1);
  });
});

test("without a server nothing is sent, and closing does not wait", async () => {
  for (const bus of [
    await openPostgresBus("postgres://127.0.0.1:1/none", silentLog),
    await openRedisBus("redis://127.0.0.1:1", "none", silentLog),
  ]) {
    bus.send({ kind: "positions", mailboxes: [] });
    await bus.close();
  }
});
