// A load of writes with idempotency keys and reads of what they wrote; afterwards, whether all that was acknowledged is there.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { budgetOf, budgetSeconds } from "./answers.js";
import type { Client, Outcome } from "./client.js";
import { startWorkers, type Load } from "./load.js";

export interface TaskLoad extends Load {
  /**
   * Holds that every acknowledged write is there as it was acknowledged, that all others happen once their key is sent again,
   * and that a key that was acknowledged makes nothing anew: each write is there once.
   */
  expectAllWrites(client: Client): Promise<void>;
}

/** How long a key may stay taken by a request that a fault left behind. */
const patienceMillis = 45_000;

export function startTaskLoad(
  client: Client,
  options: {
    readonly writers?: number;
    readonly readers?: number;
    readonly pauseMillis?: number;
    /** Seconds that each request has. */
    readonly seconds?: number;
  } = {},
): TaskLoad {
  const { writers = 4, readers = 4 } = options;
  const budget = budgetOf(options.seconds ?? budgetSeconds);
  const project = randomUUID();
  const acknowledged = new Map<string, string>();
  const sent: string[] = [];
  const write = (by: Client, title: string): Promise<Outcome> =>
    by.call("POST", "/tasks", {
      body: { title, project },
      headers: { ...budget, "idempotency-key": `${project}-${title}` },
    });
  const writer = async (by: Client): Promise<Outcome> => {
    const title = `t${sent.length}`;
    sent.push(title);
    const outcome = await write(by, title);
    if (outcome.status === 201) acknowledged.set(title, outcome.body.id);
    return outcome;
  };
  const query = (by: Client, size: number): Promise<Outcome> =>
    by.call("POST", "/tasks/query", {
      body: { size, filters: { $values: { project } } },
      headers: budget,
    });
  const reader =
    (number: number) =>
    (by: Client): Promise<Outcome> => {
      const id = [...acknowledged.values()].at(-1);
      return number % 2 === 0 || id === undefined
        ? query(by, 5)
        : by.call("GET", `/tasks/${id}`, { headers: budget });
    };
  const works = [
    ...Array.from({ length: writers }, () => writer),
    ...Array.from({ length: readers }, (_none, number) => reader(number)),
  ];
  return {
    ...startWorkers(client, works, options.pauseMillis),
    async expectAllWrites(by) {
      const until = performance.now() + patienceMillis;
      const settle = async (titles: readonly string[]): Promise<void> => {
        for (const title of titles) {
          let answer = await write(by, title);
          while (answer.status !== 201 && performance.now() < until) {
            await sleep(200);
            answer = await write(by, title);
          }
          expect([title, answer.status, answer.body?.code]).toEqual([title, 201, undefined]);
          expect(answer.body.id).toBe(acknowledged.get(title) ?? answer.body.id);
        }
      };
      // All that nobody heard of, and the last of those that were acknowledged; a few at a time.
      const open = sent.filter((title) => !acknowledged.has(title));
      const again = [...open, ...[...acknowledged.keys()].slice(-40)];
      const shares = [0, 1, 2, 3, 4, 5, 6, 7].map((share) =>
        again.filter((_title, index) => index % 8 === share),
      );
      await Promise.all(shares.map(settle));
      const { hits } = (await query(by, 10_000)).body as {
        readonly hits: readonly { readonly id: string; readonly title: string }[];
      };
      expect(hits.map(({ title }) => title).toSorted()).toEqual(sent.toSorted());
      const stored = new Map(hits.map(({ id, title }) => [title, id]));
      expect([...acknowledged].filter(([title, id]) => stored.get(title) !== id)).toEqual([]);
    },
  };
}
