import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { realtimeCounters } from "./limits.js";
import { PrincipalConnections, type PrincipalConnection } from "./principal-connections.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The connections of a process, and how they ended. */
function process() {
  const counters = realtimeCounters();
  const connections = new PrincipalConnections({ most: 100, silentMillis: 300_000, counters });
  const ended: string[] = [];
  /** A stream; one that is probed finds out by itself who is there. */
  const enter = (name: string, { device = name, isProbed = false, principalId = "ann" } = {}) => {
    const one: PrincipalConnection = {
      tenant: "t",
      principalId,
      device: device === "" ? null : device,
      connection: {
        refuse: (code) => void ended.push(`${name} ${code}`),
        reconnect: isProbed ? null : () => void ended.push(`${name} reconnects`),
      },
      end: () => connections.leave(one),
    };
    connections.enter(one);
    return () => connections.leave(one);
  };
  return { connections, counters, ended, enter };
}

test("the twenty-first is turned away while none of the others is overdue", () => {
  const { enter, ended, counters } = process();
  for (let index = 0; index < 20; index += 1) enter(`one ${index}`, { device: "" });
  vi.advanceTimersByTime(49_000);
  expect(() => enter("more")).toThrow("The caller has too many connections.");
  enter("of another", { principalId: "bob" });
  expect([ended, counters.turnedAway]).toEqual([[], 1]);
});

test("a newcomer takes the place of the stream that has been silent for longest", () => {
  const { connections, enter, ended } = process();
  const ann = { tenant: "t", principalId: "ann" };
  enter("socket", { isProbed: true });
  for (let index = 1; index < 20; index += 1) enter(`one ${index}`);
  vi.advanceTimersByTime(40_000);
  connections.sign(ann, "one 1");
  vi.advanceTimersByTime(20_000);
  enter("more");
  enter("yet more");
  expect(ended).toEqual(["one 2 reconnects", "one 3 reconnects"]);
});

test("who leaves makes room, also where it is said twice", () => {
  const { enter } = process();
  const leaves = Array.from({ length: 20 }, (_, index) => enter(`one ${index}`));
  for (const leave of [leaves[0], leaves[0]]) leave?.();
  enter("more");
  expect(() => enter("yet more")).toThrow("too many");
});

test("others are told of a device that has no connection here, and now and then of one that has", () => {
  const { connections, enter } = process();
  const ann = { tenant: "t", principalId: "ann" };
  expect([connections.sign(ann, "phone"), connections.sign(ann, "phone")]).toEqual([true, true]);
  enter("phone");
  expect([connections.sign(ann, "phone"), connections.sign(ann, "phone")]).toEqual([true, false]);
  vi.advanceTimersByTime(20_000);
  expect(connections.sign(ann, "phone")).toBe(true);
});

test("streams end that give no sign of life, and others do not", () => {
  const { connections, enter, ended } = process();
  enter("silent");
  enter("living");
  enter("nameless", { device: "" });
  enter("socket", { isProbed: true });
  for (let time = 0; time < 11; time += 1) {
    vi.advanceTimersByTime(30_000);
    connections.sign({ tenant: "t", principalId: "ann" }, "living");
    connections.sign({ tenant: "t", principalId: "bob" }, "silent");
    connections.endSilent();
  }
  expect(ended).toEqual(["silent reconnects", "nameless reconnects"]);
});
