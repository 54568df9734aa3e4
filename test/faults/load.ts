// A light load on a service that is being broken: workers with one request at a time each, and what became of every one.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Outcome } from "./client.js";

/** One request of a worker. */
export type Work = (client: Client) => Promise<Outcome>;

export interface Load {
  /** What became of each request so far. */
  readonly outcomes: readonly Outcome[];
  /** Outcomes since the last call. */
  takeOutcomes(): readonly Outcome[];
  /** Resolves once so many more requests have been answered with success. */
  successes(count: number): Promise<void>;
  /** Has the requests go to another client from now on, after a process was started anew. */
  use(client: Client): void;
  /** Ends the load; resolves when each of its requests has its outcome. */
  stop(): Promise<void>;
}

/** Within this a service that is well answers a few requests, on any machine. */
const successMillis = 20_000;

/** Starts the workers; each pauses between two requests. */
export function startWorkers(first: Client, works: readonly Work[], pauseMillis = 50): Load {
  const outcomes: Outcome[] = [];
  let client = first;
  const counts = { taken: 0, succeeded: 0 };
  const ended = new AbortController();
  const repeat = async (work: Work): Promise<void> => {
    while (!ended.signal.aborted) {
      const outcome = await work(client);
      outcomes.push(outcome);
      if (isSuccess(outcome)) counts.succeeded += 1;
      await sleep(pauseMillis);
    }
  };
  const running = works.map(repeat);
  return {
    outcomes,
    takeOutcomes() {
      const fresh = outcomes.slice(counts.taken);
      counts.taken = outcomes.length;
      return fresh;
    },
    async successes(count) {
      const before = counts.succeeded;
      const until = performance.now() + successMillis;
      while (counts.succeeded < before + count) {
        if (performance.now() > until)
          throw new Error(`${counts.succeeded - before} of ${count} requests succeeded in time`);
        await sleep(20);
      }
    },
    use(next) {
      client = next;
    },
    async stop() {
      ended.abort();
      await Promise.all(running);
    },
  };
}

export function isSuccess({ status }: Outcome): boolean {
  return status >= 200 && status < 300;
}
