// Presence: who hears a topic, alike on all transports and across processes (decisions.md §2).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buses, type FreshBus } from "../../support/bus-engines.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  type Client,
  type Connect,
} from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const transports = { sse: connectSse, websocket: connectWebSocket, socketio: connectSocketIo };
const names = ["sse", "websocket", "socketio"] as const;

interface Setting {
  readonly name: string;
  readonly isAvailable: boolean;
  /** One service, or two that share a bus. */
  start(): Promise<{
    readonly services: readonly [TestService, TestService];
    stop(): Promise<void>;
  }>;
}

const [sqlite] = engines;
const postgres = engines.find(({ name }) => name === "postgres");

const settings: readonly Setting[] = [
  {
    name: "one process",
    isAvailable: true,
    async start() {
      if (sqlite === undefined) throw new Error("there is no SQLite");
      const service = await startTestService(sqlite, { signsIn: false });
      return { services: [service, service], stop: () => service.stop() };
    },
  },
  ...buses.map((engine): Setting => ({
    name: `two processes and a bus over ${engine.name}`,
    isAvailable: engine.isAvailable && postgres?.isAvailable === true,
    async start() {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      const bus: FreshBus = await engine.create();
      const database: FreshDatabase =
        engine.name === "postgres"
          ? databaseAt(bus.url, () => bus.drop())
          : await postgres.create();
      const data = mkdtempSync(join(tmpdir(), "opwright-shared-"));
      const environment = { ...database.environment, DATA_DIR: data, BUS_URL: bus.url };
      const here = await startTestService(postgres, { signsIn: false, environment });
      const there = await startTestService(postgres, { signsIn: false, environment });
      return {
        services: [here, there],
        async stop() {
          await here.stop();
          await there.stop();
          await database.drop();
          if (engine.name === "redis") await bus.drop();
          rmSync(data, { recursive: true, force: true });
        },
      };
    },
  })),
];

describe.each(settings.filter(({ isAvailable }) => isAvailable))("$name", (setting) => {
  let started: Awaited<ReturnType<Setting["start"]>>;
  let people: People;
  let ann: Member;
  let bob: Member;
  let topic = "";
  const clients: Client[] = [];
  beforeAll(async () => {
    started = await setting.start();
    people = peopleOf(started.services[0]);
    ann = await people.member("", "projects.read", "projects.write");
    bob = await people.member(ann.tenantId, "projects.read");
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => started.stop());

  const here = async (connect: Connect, who: Member): Promise<Client> => {
    const client = await connect(started.services[0], who, { topics: [topic] });
    clients.push(client);
    return client;
  };
  const there = async (connect: Connect, who: Member): Promise<Client> => {
    const client = await connect(started.services[1], who, { topics: [topic] });
    clients.push(client);
    return client;
  };
  const told = ({ presence }: Client): readonly unknown[] =>
    presence.map(({ event, id, data }) => [
      event,
      id,
      data.principal ?? data.principals,
      data.count,
    ]);
  const freshTopic = async (): Promise<void> => {
    const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
    topic = `project:${made.body.id}`;
  };

  // The ears are the same in every setting; each is tried once.
  test.each(setting.name === "one process" ? names : (["websocket"] as const))(
    "over %s who hears a topic is told who joins and who leaves it",
    async (name) => {
      await freshTopic();
      const hers = await here(transports[name], ann);
      await expect.poll(() => told(hers)).toEqual([["realtime.presence", null, [ann.id], 1]]);
      const his = await Promise.all(names.map((other) => there(transports[other], bob)));
      const joined = ["realtime.joined", null, bob.id, 2];
      await expect.poll(() => told(hers).slice(1)).toEqual([joined]);
      for (const client of his)
        await expect
          .poll(() => told(client).at(-1))
          .toEqual(["realtime.presence", null, expect.arrayContaining([ann.id, bob.id]), 2]);
      his[0]?.close();
      his[1]?.close();
      // Who comes back at once has not left.
      his[2]?.close();
      const again = await there(connectSse, bob);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(told(hers).slice(1)).toEqual([joined]);
      again.close();
      const left = ["realtime.left", null, bob.id, 1];
      await expect.poll(() => told(hers).slice(1), { timeout: 5_000 }).toEqual([joined, left]);
    },
    15_000,
  );

  test("another topic and another tenant hear nothing of it", async () => {
    await freshTopic();
    const hers = await here(connectWebSocket, ann);
    // What happens within a tick is one frame: hers comes first.
    await expect.poll(() => told(hers)).toEqual([["realtime.presence", null, [ann.id], 1]]);
    const before = topic;
    await freshTopic();
    await there(connectSocketIo, bob);
    topic = before;
    await there(connectSocketIo, bob);
    await expect
      .poll(() => told(hers))
      .toEqual([
        ["realtime.presence", null, [ann.id], 1],
        ["realtime.joined", null, bob.id, 2],
      ]);
  });

  test("all are named on demand, to those who may hear the topic", async () => {
    await freshTopic();
    const hers = await here(connectWebSocket, ann);
    await expect.poll(() => told(hers)).toEqual([["realtime.presence", null, [ann.id], 1]]);
    await there(connectSocketIo, bob);
    await expect.poll(() => told(hers).at(-1)).toEqual(["realtime.joined", null, bob.id, 2]);
    const ids = [ann.id, bob.id].toSorted();
    const ask = async (query: string, token = bob.token): Promise<unknown> => {
      const path = `/realtime/presence?topic=${topic}${query}`;
      const { status, body } = await people.as(token, "GET", path);
      return [status, status === 200 ? body : body.code];
    };
    const page = (principals: readonly unknown[], more: boolean): unknown => [
      200,
      { topic, principals, count: 2, has_more: more },
    ];
    expect(await ask("")).toEqual(page(ids, false));
    expect(await ask("&limit=1")).toEqual(page(ids.slice(0, 1), true));
    expect(await ask(`&limit=1&after=${ids[0]}`)).toEqual(page(ids.slice(1), false));
    expect(await ask("&limit=0")).toEqual([422, "core.validation"]);
    const stranger = await people.member(ann.tenantId);
    expect(await ask("", stranger.token)).toEqual([403, "realtime_topics_unauthorized"]);
  });
});
