// The cost of presence, counted in frames: it grows with the number of those who hear a topic, not
// with its square.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PresenceMessage } from "../../ports/bus.js";
import { Signal } from "../../ports/signal.js";
import { memoryHub, type HubMember } from "./hub.js";
import { startPresence, type Presence } from "./presence.js";

const members = 1_000;
const tenant = "t";
const topic = "team:a";

interface Ear {
  readonly heard: Signal[];
  readonly leave: () => void;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A process whose presence is told over a hub; `messages` are what other processes are told. */
function process() {
  const hub = memoryHub(Signal.ofEntry);
  const messages: PresenceMessage[] = [];
  const frames = new Set<Signal>();
  const presence: Presence = startPresence(
    (of, told, signal, except) => hub.tell(of, { topic: told }, signal, except),
    (message) => messages.push(message),
  );
  const join = (principalId: string): Ear => {
    const heard: Signal[] = [];
    const member: HubMember = {
      tenant,
      principalId,
      hint: () => undefined,
      wants: () => undefined,
      signals(signals) {
        heard.push(...signals);
        for (const signal of signals) frames.add(signal);
      },
    };
    hub.hear(member, topic);
    presence.enter([tenant, topic, principalId], member);
    return {
      heard,
      leave() {
        hub.unhear(member, topic);
        presence.leave([tenant, topic, principalId], member);
      },
    };
  };
  return { messages, frames, presence, join };
}

const dataOf = (signal: Signal | undefined): Record<string, unknown> =>
  JSON.parse(signal?.data ?? "{}") as Record<string, unknown>;

test("a thousand who come at once are told by one frame each, of the same bytes", async () => {
  const { frames, messages, join, presence } = process();
  const ears = Array.from({ length: members }, (_none, index) => join(`p${index}`));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ears.map(({ heard }) => heard.length)).toEqual(ears.map(() => 1));
  expect(frames.size).toBe(1);
  expect(messages.map(({ is }) => is)).toEqual(["here"]);
  const snapshot = dataOf(ears[0]?.heard[0]);
  expect([snapshot["count"], (snapshot["principals"] as unknown[]).length]).toEqual([1_000, 100]);
  presence.stop();
});

test("those who come over ten seconds are told of each other once a second", async () => {
  const { join, presence } = process();
  const ears: Ear[] = [];
  for (let index = 0; index < members; index += 1) {
    ears.push(join(`p${index}`));
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  const heard = ears.map((ear) => ear.heard.length);
  expect(Math.max(...heard)).toBeLessThanOrEqual(12);
  expect(ears.map((ear) => dataOf(ear.heard.at(-1))["count"])).toEqual(ears.map(() => members));
  presence.stop();
});

test("when half of them go, the others are told by one frame each", async () => {
  const { join, presence } = process();
  const ears = Array.from({ length: members }, (_none, index) => join(`p${index}`));
  await vi.advanceTimersByTimeAsync(5_000);
  for (const ear of ears.slice(members / 2)) ear.leave();
  await vi.advanceTimersByTimeAsync(5_000);
  const rest = ears.slice(0, members / 2);
  expect(rest.map(({ heard }) => heard.length)).toEqual(rest.map(() => 2));
  expect(dataOf(rest[0]?.heard.at(-1))["count"]).toBe(members / 2);
  presence.stop();
});

test("one who comes and one who goes are told by their names", async () => {
  const { join, presence } = process();
  const ann = join("ann");
  await vi.advanceTimersByTimeAsync(2_000);
  const bob = join("bob");
  await vi.advanceTimersByTimeAsync(2_000);
  bob.leave();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ann.heard.map((signal) => [signal.name, dataOf(signal)])).toEqual([
    ["realtime.presence", { topic, principals: ["ann"], count: 1 }],
    ["realtime.joined", { topic, principal: "bob", count: 2 }],
    ["realtime.left", { topic, principal: "bob", count: 1 }],
  ]);
  presence.stop();
});

test("all names are to be had, in pages that leave nobody out", async () => {
  const { join, presence } = process();
  for (let index = 0; index < 250; index += 1) join(`p${String(index).padStart(3, "0")}`);
  const names: string[] = [];
  for (let page = presence.page(tenant, topic, "", 100); ;) {
    names.push(...page.principals);
    expect(page.count).toBe(250);
    if (!page.hasMore) break;
    page = presence.page(tenant, topic, names.at(-1) ?? "", 100);
  }
  expect(new Set(names).size).toBe(250);
  presence.stop();
});
