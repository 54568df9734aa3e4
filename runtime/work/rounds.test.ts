// Work that returns to many members: to each once a round, however many come and go in between.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as ambient from "../ports/ambient.js";
import { Rounds } from "./rounds.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("each member is visited once a round, and not before a round has nearly passed", () => {
  const visits = new Map<number, number[]>();
  const rounds = new Rounds<number>(25_000, (member) => {
    visits.set(member, [...(visits.get(member) ?? []), Date.now()]);
  });
  const entered = new Map<number, number>();
  for (let member = 0; member < 100; member += 1) {
    rounds.enter(member);
    entered.set(member, Date.now());
    vi.advanceTimersByTime(370);
  }
  vi.advanceTimersByTime(100_000);
  for (const [member, at] of entered) {
    const times = [at, ...(visits.get(member) ?? [])];
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.length).toBeGreaterThanOrEqual(3);
    expect(pauses[0]).toBeGreaterThan(23_999);
    expect(pauses[0]).toBeLessThanOrEqual(25_000);
    expect(new Set(pauses.slice(1))).toEqual(new Set([25_000]));
  }
});

test("who leaves is visited no more, also while a part is visited; without members no timer runs", () => {
  const visited: string[] = [];
  const parts = new Map<string, number>();
  const rounds = new Rounds<string>(25_000, (member) => {
    visited.push(member);
    for (const one of ["a", "b"]) rounds.leave(one, parts.get(one) ?? -1);
  });
  for (const one of ["a", "b", "c"]) parts.set(one, rounds.enter(one));
  vi.advanceTimersByTime(50_000);
  expect(visited).toEqual(["a", "c", "c"]);
  rounds.leave("c", parts.get("c") ?? -1);
  expect(vi.getTimerCount()).toBe(0);
  rounds.leave("c", parts.get("c") ?? -1);
  rounds.enter("d");
  expect(vi.getTimerCount()).toBe(1);
});

test("a loop that is held up again and again visits as often as one that is not", () => {
  let elapsed = 0;
  const moved = vi.spyOn(ambient, "monotonicMillis").mockImplementation(() => elapsed);
  const visits: number[] = [];
  new Rounds<string>(25_000, () => void visits.push(elapsed)).enter("a");
  // Each timer is late by nearly a second.
  while (elapsed < 100_000) {
    elapsed += 900;
    vi.advanceTimersByTime(100);
    elapsed += 100;
  }
  moved.mockRestore();
  expect(visits.length).toBeGreaterThanOrEqual(3);
});

test("behind a long stall nobody is visited twice before an answer could be read", () => {
  let elapsed = 0;
  const moved = vi.spyOn(ambient, "monotonicMillis").mockImplementation(() => elapsed);
  const visits: number[] = [];
  new Rounds<string>(25_000, () => void visits.push(elapsed)).enter("a");
  elapsed += 200_000;
  vi.advanceTimersByTime(1_000);
  elapsed += 1_000;
  vi.advanceTimersByTime(1_000);
  moved.mockRestore();
  expect(visits.length).toBeLessThanOrEqual(1);
});
