// Asks `/livez` at a steady pace, whether or not the last answer has come, and notes how long each took.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { newClient } from "../../faults/client.js";
import { program } from "./program.js";

/** What the probe has found; milliseconds. */
export interface ProbeReport {
  readonly asked: number;
  readonly unanswered: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** How late the probe itself was, with nothing else to do: what the machine adds. */
  readonly ownP99: number;
  readonly ownMax: number;
}

const everyMillis = 25;

program<{ readonly url: string }>(async ({ url }) => {
  const client = newClient(url, { address: "127.0.0.3", sockets: 256 });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const millis: number[] = [];
  const asked = new Set<Promise<void>>();
  let unanswered = 0;
  const ask = async (): Promise<void> => {
    const outcome = await client.call("GET", "/livez");
    if (outcome.status !== 200) unanswered += 1;
    millis.push(outcome.millis);
  };
  const timer = setInterval(() => {
    const one = ask().finally(() => asked.delete(one));
    asked.add(one);
  }, everyMillis);
  return {
    begun: null,
    async end(): Promise<ProbeReport> {
      clearInterval(timer);
      await Promise.all(asked);
      millis.sort((one, other) => one - other);
      const at = (share: number): number => millis[Math.ceil(millis.length * share) - 1] ?? 0;
      return {
        asked: millis.length,
        unanswered,
        p50: at(0.5),
        p99: at(0.99),
        max: at(1),
        ownP99: delay.percentile(99) / 1e6,
        ownMax: delay.max / 1e6,
      };
    },
  };
});
