// Signals on topics that are lost while the bus is away: clients that stay connected are told once it is back, on every
// transport, whichever side of the bus failed and whoever noticed (decisions.md §2: loss is never silent; attack 158).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { peopleOf } from "../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  type Client,
} from "../support/realtime-clients.js";
import { startTestService, type TestService } from "../support/service.js";
import { buses, type FreshBus } from "../support/bus-engines.js";
import { databaseAt, engines, type FreshDatabase } from "../support/engines.js";
import { freePort } from "../support/free-port.js";
import { startProxy, type Mode, type Proxy } from "./proxy.js";

const postgres = engines.find(({ name }) => name === "postgres");
/** A connection that has gone silent is found out within so many milliseconds, and replaced. */
const noticed = { timeout: 30_000, interval: 100 };

/** How long a fault lasts, so that what is sent runs into it. */
const lastsMillis = 1_000;

/** Two services on one database, each with its own way to the bus. */
async function startPair(database: FreshDatabase, urls: readonly [here: string, there: string]) {
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

type Pair = Awaited<ReturnType<typeof startPair>>;

/** One client of each transport at the service that hears over the bus. */
async function earsOf({ there, writer, project }: Pair): Promise<readonly Client[]> {
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
async function expectHeard(pair: Pair, ears: readonly Client[]): Promise<void> {
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
async function expectAnnounced(
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

const available = buses.filter(({ isAvailable }) => isAvailable && postgres?.isAvailable === true);
describe.each(available)("a bus over $name behind a network that fails", (engine) => {
  let bus: FreshBus;
  let database: FreshDatabase;
  let pair: Pair;
  let ears: readonly Client[] = [];
  const ways: Record<"here" | "there", Proxy | undefined> = { here: undefined, there: undefined };
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    bus = await engine.create();
    database =
      engine.name === "postgres" ? databaseAt(bus.url, () => bus.drop()) : await postgres.create();
    const { hostname, port } = new URL(bus.url);
    const usual = engine.name === "postgres" ? 5432 : 6379;
    const way = (): Promise<Proxy> => startProxy(hostname, Number(port || usual));
    const [here, there] = [await way(), await way()];
    Object.assign(ways, { here, there });
    pair = await startPair(database, [here.url(bus.url), there.url(bus.url)]);
    ears = await earsOf(pair);
  });
  afterAll(async () => {
    for (const client of ears) client.close();
    await pair.stop();
    await ways.here?.close();
    await ways.there?.close();
    await database.drop();
    if (engine.name === "redis") await bus.drop();
  });

  const refuses = ["refuses", { kind: "refuse" }] as const;
  const silent = ["is silent", { kind: "silent" }] as const;
  const mute = ["hears and says nothing", { kind: "half-open", dead: "down" }] as const;
  const deaf = ["hears nothing", { kind: "half-open", dead: "up" }] as const;
  // What else is half-open loses no signal: a sender's answers, a listener's questions.
  const faults: readonly (readonly ["there" | "here", string, Mode])[] = [
    ...[refuses, silent, mute].map((fault) => ["there", ...fault] as const),
    ...[refuses, silent, deaf].map((fault) => ["here", ...fault] as const),
  ];
  test.each(faults)("%s, the network that %s", async (side, _what, mode) => {
    await expectAnnounced(pair, ears, {
      async begin() {
        await ways[side]?.become(mode);
        if (mode.kind === "refuse") ways[side]?.cut();
      },
      end: () => ways[side]?.become({ kind: "pass" }),
    });
  });
});

describe.skipIf(!existsSync("/usr/bin/redis-server") || postgres?.isAvailable !== true)(
  "a Redis that dies and comes back",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "opwright-redis-"));
    let port = 0;
    let server: ChildProcess;
    let database: FreshDatabase;
    let pair: Pair;
    let ears: readonly Client[] = [];
    const begin = (): ChildProcess =>
      spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
        cwd: folder,
        stdio: "ignore",
      });
    const kill = async (): Promise<void> => {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    };
    beforeAll(async () => {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      port = await freePort();
      server = begin();
      database = await postgres.create();
      const url = `redis://127.0.0.1:${port}`;
      pair = await startPair(database, [url, url]);
      ears = await earsOf(pair);
    });
    afterAll(async () => {
      for (const client of ears) client.close();
      await pair.stop();
      await kill();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("signals sent meanwhile are announced as lost", async () => {
      await expectAnnounced(pair, ears, { begin: kill, end: () => void (server = begin()) });
    });
  },
);
