// What has become of everything that was acknowledged, once the load has ended.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../faults/client.js";
import type { LoadReport } from "./load.js";
import type { Received } from "./receivers.js";
import type { HostileReport } from "./report.js";

/** Where everything of \`noted\` has to arrive. */
export const goodPaths = ["/first", "/second"];

/** Events that are owed are delivered within this, behind all that fails. */
const settleMillis = 60_000;

async function metricsOf(client: Client, ...names: readonly string[]): Promise<readonly number[]> {
  const { bytes } = await client.call("GET", "/metrics");
  return names.map((name) =>
    Number(new RegExp(`^opwright_${name} (\\S+)$`, "m").exec(bytes.toString())?.[1]),
  );
}

/** What is left of the outbox once nothing waits any more, or once it has had its time. */
export async function settledOutbox(
  client: Client,
): Promise<{ readonly dead: number; readonly pending: number }> {
  return settled(
    async () => {
      const [pending = NaN, dead = NaN] = await metricsOf(client, "outbox_pending", "outbox_dead");
      return { pending, dead };
    },
    ({ pending }) => pending === 0,
  );
}

/** Each delivery was made, given up, or still waits: silent receivers take their time. */
export async function settledWebhooks(
  client: Client,
  owed: number,
): Promise<HostileReport["webhooks"]> {
  const names = ["webhooks_delivered_total", "webhooks_given_up_total", "webhooks_pending"];
  return settled(
    async () => {
      const [delivered = NaN, givenUp = NaN, pending = NaN] = await metricsOf(client, ...names);
      return { owed, delivered, givenUp, pending };
    },
    ({ delivered, givenUp, pending }) => delivered + givenUp + pending === owed,
  );
}

/** The first value that is good enough, or the last that there was time for. */
async function settled<T>(look: () => Promise<T>, isSettled: (value: T) => boolean): Promise<T> {
  const until = performance.now() + settleMillis;
  for (;;) {
    const value = await look();
    if (isSettled(value) || performance.now() > until) return value;
    await sleep(200);
  }
}

export async function storedKeys(client: Client): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (let after: string | null = null; ;) {
    const body = { size: 1_000, ...(after === null ? {} : { after }) };
    const { status, body: page } = await client.call("POST", "/notes/list_cursor", { body });
    if (status !== 200) throw new Error(`notes could not be listed: ${status}`);
    for (const { key } of page.hits) keys.add(key);
    after = page.next_cursor;
    if (page.has_more !== true) return keys;
  }
}

/** What was acknowledged and is not there, and what was refused and is. */
export function comparisonOf(
  { acknowledged, refused, noted, mailed, sent }: LoadReport,
  stored: ReadonlySet<string>,
  received: Received,
  mails: ReadonlySet<string>,
): Pick<HostileReport, "lost" | "phantoms" | "acknowledged"> {
  const undelivered = [...goodPaths, "/shop"].flatMap((path) => {
    const there = new Set(received[path]);
    return noted.filter((n) => !there.has(n)).map((n) => `event ${n} at ${path}`);
  });
  const lost = [
    ...acknowledged.filter((key) => !stored.has(key)),
    ...undelivered,
    ...mailed.filter((n) => !mails.has(`n${n}@example.test`)).map((n) => `mail ${n}`),
    ...sent.filter((n) => !stored.has(`sent-${n}`)).map((n) => `event ${n} of a function`),
  ];
  // What is called behind a slash belongs to a handler that stored nothing, or is called too late.
  const phantoms = [
    ...refused.filter((key) => stored.has(key)),
    ...[...stored].filter((key) => key.includes("/")),
  ];
  const events = noted.length + mailed.length + sent.length;
  return { lost, phantoms, acknowledged: { notes: acknowledged.length, events } };
}
