// Two services that hear each other over a bus, and clients of each transport: what is lost between the two ends of a fault
// is announced to them (decisions.md §2: loss is never silent; attack 158).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { peopleOf } from "../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  type Client,
} from "../support/realtime-clients.js";
import { startTestService, type TestService } from "../support/service.js";
import { engines, type FreshDatabase } from "../support/engines.js";

export const postgres = engines.find(({ name }) => name === "postgres");
/** A connection that has gone silent is found out within so many milliseconds, and replaced. */
const noticed = { timeout: 30_000, interval: 100 };

/** How long a fault lasts, so that what is sent runs into it. */
const lastsMillis = 1_000;

/** Two services on one database, each with its own way to the bus. */
export async function startPair(
  database: FreshDatabase,
  urls: readonly [here: string, there: string],
) {
  if (postgres === undefined) throw new Error("there is no PostgreSQL");
  const data = mkdtempSync(join(tmpdir(), "opwright-losses-"));
  const services = [];
  for (const BUS_URL of urls) {
    // The stream of events gives no sign of life of its own, and faults last as long as the machine takes.
    const patience = { SSE_SILENT_SECONDS: "3600" };
    const environment = { DATABASE_URL: database.url, DATA_DIR: data, BUS_URL, ...patience };
    services.push(await startTestService(postgres, { signsIn: false, environment }));
  }
  const [here, there] = services as [TestService, TestService];
  const people = peopleOf(here);
  const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
  const writer = await people.member("", ...may);
  const project = await people.by(writer.token).make("projects", { name: "P", key: "PP" });
  return {
    here,
    there,
    people,
    writer,
    project,
    async stop() {
      await here.stop();
      await there.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

export type Pair = Awaited<ReturnType<typeof startPair>>;

/** One client of each transport at the service that hears over the bus. */
export async function earsOf({ there, writer, project }: Pair): Promise<readonly Client[]> {
  const topics = [`project:${project}`];
  const connects = [connectWebSocket, connectSse, connectSocketIo];
  return Promise.all(connects.map((connect) => connect(there, writer, { topics })));
}

const titles = ({ heard }: Client): readonly unknown[] =>
  heard.flatMap(({ event, data }) => (event === "task.changed" ? [data.title] : []));
const gaps = ({ heard }: Client): readonly unknown[] =>
  heard.flatMap(({ event, id, data }) => (event === "realtime.gap" ? [[id, data]] : []));

async function make({ people, writer, project }: Pair, title: string): Promise<void> {
  await people.by(writer.token).make("tasks", { title, project });
}

let tries = 0;

/** All hear what is sent from some moment on. */
export async function expectHeard(pair: Pair, ears: readonly Client[]): Promise<void> {
  const hear = async (): Promise<boolean> => {
    expect(ears.map((one) => one.hasEnded())).toEqual(ears.map(() => false));
    const title = `heard ${(tries += 1)}`;
    await make(pair, title);
    await sleep(500);
    return ears.every((one) => titles(one).includes(title));
  };
  await expect.poll(hear, noticed).toBe(true);
}

/** What is lost between the two ends of a fault is announced to all, who then hear again without having connected anew. */
export async function expectAnnounced(
  pair: Pair,
  ears: readonly Client[],
  fault: { readonly begin: () => unknown; readonly end: () => unknown },
): Promise<void> {
  await expectHeard(pair, ears);
  const before = ears.map((client) => gaps(client).length);
  await fault.begin();
  await make(pair, "lost");
  await sleep(lastsMillis);
  await fault.end();
  const told = [null, { from: 0, to: 0, topics: [`project:${pair.project}`] }];
  for (const [index, client] of ears.entries())
    await expect.poll(() => gaps(client).slice(before[index]), noticed).toContainEqual(told);
  for (const client of ears) {
    expect(titles(client)).not.toContain("lost");
    expect(client.hasEnded()).toBe(false);
  }
  await expectHeard(pair, ears);
}
