import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { realtimeCounters } from "./limits.js";
import { Lines, type Line } from "./lines.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The connections of a process, and how they ended. */
function process() {
  const counters = realtimeCounters();
  const lines = new Lines({ most: 100, silentMillis: 300_000, counters });
  const ended: string[] = [];
  /** A stream; one that is probed finds out by itself who is there. */
  const enter = (name: string, { device = name, isProbed = false, principalId = "ann" } = {}) => {
    const line: Line = {
      tenant: "t",
      principalId,
      device: device === "" ? null : device,
      connection: {
        refuse: (code) => void ended.push(`${name} ${code}`),
        renew: isProbed ? null : () => void ended.push(`${name} renewed`),
      },
      end: () => leave(),
    };
    const leave = lines.enter(line);
    return leave;
  };
  return { lines, counters, ended, enter };
}

test("the twenty-first is turned away while none of the others is overdue", () => {
  const { enter, ended, counters } = process();
  for (let index = 0; index < 20; index += 1) enter(`line ${index}`, { device: "" });
  vi.advanceTimersByTime(49_000);
  expect(() => enter("more")).toThrow("The caller has too many connections.");
  enter("of another", { principalId: "bob" });
  expect([ended, counters.turnedAway]).toEqual([[], 1]);
});

test("a newcomer takes the place of the stream that has been silent for longest", () => {
  const { lines, enter, ended } = process();
  const ann = { tenant: "t", principalId: "ann" };
  enter("socket", { isProbed: true });
  for (let index = 1; index < 20; index += 1) enter(`line ${index}`);
  vi.advanceTimersByTime(40_000);
  lines.sign(ann, "line 1");
  vi.advanceTimersByTime(20_000);
  enter("more");
  enter("yet more");
  expect(ended).toEqual(["line 2 renewed", "line 3 renewed"]);
});

test("who leaves makes room, also where it is said twice", () => {
  const { enter } = process();
  const leaves = Array.from({ length: 20 }, (_, index) => enter(`line ${index}`));
  for (const leave of [leaves[0], leaves[0]]) leave?.();
  enter("more");
  expect(() => enter("yet more")).toThrow("too many");
});

test("others are told of a device that has no connection here, and now and then of one that has", () => {
  const { lines, enter } = process();
  const ann = { tenant: "t", principalId: "ann" };
  expect([lines.sign(ann, "phone"), lines.sign(ann, "phone")]).toEqual([true, true]);
  enter("phone");
  expect([lines.sign(ann, "phone"), lines.sign(ann, "phone")]).toEqual([true, false]);
  vi.advanceTimersByTime(20_000);
  expect(lines.sign(ann, "phone")).toBe(true);
});

test("streams end that give no sign of life, and others do not", () => {
  const { lines, enter, ended } = process();
  enter("silent");
  enter("living");
  enter("nameless", { device: "" });
  enter("socket", { isProbed: true });
  for (let time = 0; time < 11; time += 1) {
    vi.advanceTimersByTime(30_000);
    lines.sign({ tenant: "t", principalId: "ann" }, "living");
    lines.sign({ tenant: "t", principalId: "bob" }, "silent");
    lines.endSilent();
  }
  expect(ended).toEqual(["silent renewed", "nameless renewed"]);
});
