// Topics that are switched while signals come: none is lost of a topic that stays, and none comes twice, over each transport,
// in tabs that share, and where another process takes over (attack 159).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../generated/identity.js";
import { createClient, type Client } from "../../generated/client/index.js";
import {
  connect,
  shared,
  socketIo,
  sse,
  webSocket,
  type LiveStatus,
  type Transport,
} from "../../generated/client/realtime.js";
import { issueSession } from "../../runtime/families/identity/operations.js";
import { Signal } from "../../runtime/ports/signal.js";
import { buses, type FreshBus } from "../bus-engines.js";
import { engines, type FreshDatabase } from "../engines.js";
import { peopleOf, type Member, type People } from "./people.js";
import { startTestService, type TestService } from "./service.js";
import { tabLocks, withTabLocks } from "./tab-locks.js";

const transports: Readonly<Record<string, () => Transport>> = {
  websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
  sse: () => sse(),
  socketio: () => socketIo(io),
};
const names = Object.keys(transports);
const count = 200;
const numbers = Array.from({ length: count }, (_none, index) => index);

/** What a tab keeps over a reload, or all tabs of a browser. */
function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

const lives: { close(): void }[] = [];
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});

/** A connection that notes the numbers that it hears, of topics and of its own mailbox. */
function listening(client: Client, transport: Transport, topics: string[], store = storage()) {
  const heard: number[] = [];
  const others: string[] = [];
  const statuses: LiveStatus[] = [];
  const live = connect(client, {
    transport,
    topics,
    store,
    onStatus: (status) => void statuses.push(status),
  });
  lives.push(live);
  live.listen(({ name, data }) => {
    if (name === "task.typing") heard.push(Number((data as { who: unknown }).who));
    else if (name === "realtime.gap") others.push(name);
  });
  return { live, heard, others, statuses };
}

type Ear = ReturnType<typeof listening>;

/** Somebody with two projects, and a client of hers. */
async function settingOf(service: TestService, fetched: typeof fetch = fetch) {
  const people: People = peopleOf(service);
  const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
  const ann: Member = await people.member("", ...may);
  const make = (key: string) => people.by(ann.token).make("projects", { name: key, key });
  const [stays, first, second] = [await make("SS"), await make("AA"), await make("BB")];
  const client = createClient({
    baseUrl: service.url,
    fetch: fetched,
    tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
  });
  const [topic, ...others] = [stays, first, second].map((id) => `project:${id}`);
  return { ann, client, topic: topic ?? "", others };
}

function tell(service: TestService, tenant: string, topic: string, who: number): void {
  const { signals } = service.running.connection.context("test.told").resources;
  const data = JSON.stringify({ task: "t", who });
  signals.publish(tenant, { topic }, new Signal("task.typing", data, null));
}

/** Tells all numbers while the topics of some ears are switched again and again. */
async function tellWhileSwitching(
  service: TestService,
  {
    ann,
    topic,
    others,
  }: { readonly ann: Member; readonly topic: string; readonly others: string[] },
  switching: readonly Ear[],
): Promise<void> {
  for (const number of numbers) {
    tell(service, ann.tenantId, topic, number);
    for (const [index, { live }] of switching.entries()) {
      const other = others[(number + index) % others.length] ?? "";
      if (number % (index + 2) === 0) live.setTopics([topic, ...(number % 5 === 0 ? [] : [other])]);
    }
    await sleep(10);
  }
}

describe.each(names)("over %s", (name) => {
  let service: TestService;
  let setting: Awaited<ReturnType<typeof settingOf>>;
  let restore: () => void;
  beforeAll(async () => {
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    setting = await settingOf(service);
    restore = withTabLocks(tabLocks());
  });
  afterAll(async () => {
    restore();
    await service.stop();
  });
  const transport = (): Transport => transports[name]?.() ?? sse();

  test("nothing of a topic that stays is lost while others are switched", async () => {
    const { client, topic, others } = setting;
    const ear = listening(client, transport(), [topic]);
    await ear.live.opened();
    await tellWhileSwitching(service, setting, [ear]);
    await expect.poll(() => ear.heard.length).toBe(count);
    expect(ear.heard).toEqual(numbers);
    // Of the topics that were set last all is heard, too.
    ear.live.setTopics([topic, others[0] ?? ""]);
    await expect
      .poll(() => {
        tell(service, setting.ann.tenantId, others[0] ?? "", count);
        return ear.heard.at(-1);
      })
      .toBe(count);
    expect([ear.statuses, ear.others]).toEqual([["open"], []]);
  });

  test("a list that the application adds to is heard once it is set", async () => {
    const { ann, client, topic, others } = setting;
    const topics = [topic];
    const ear = listening(client, transport(), topics);
    await ear.live.opened();
    topics.push(others[0] ?? "");
    ear.live.setTopics(topics);
    await expect
      .poll(() => {
        tell(service, ann.tenantId, others[0] ?? "", count);
        return ear.heard.at(-1);
      })
      .toBe(count);
  });

  test("tabs that share lose nothing while each of them switches", async () => {
    const { client, topic } = setting;
    const store = storage();
    const tab = (): Ear => listening(client, shared(transport()), [topic], store);
    const leads = tab();
    await leads.live.opened();
    const [follows, still] = [tab(), tab()];
    await Promise.all([follows.live.opened(), still.live.opened()]);
    await tellWhileSwitching(service, setting, [leads, follows]);
    for (const { heard } of [leads, follows, still]) {
      await expect.poll(() => heard.length).toBe(count);
      expect(heard).toEqual(numbers);
    }
    for (const { statuses, others } of [leads, follows, still])
      expect([statuses, others]).toEqual([["open"], []]);
  });

  test("a tab that asks for what is not granted is refused alone, and the others hear on", async () => {
    const { ann, client, topic } = setting;
    const store = storage();
    const tab = (): Ear => listening(client, shared(transport()), [topic], store);
    const leads = tab();
    await leads.live.opened();
    const bold = tab();
    await bold.live.opened();
    for (const number of numbers.slice(0, 50)) {
      tell(service, ann.tenantId, topic, number);
      if (number === 20) bold.live.setTopics([topic, `project:${ann.id}`]);
      await sleep(10);
    }
    await expect.poll(() => bold.live.status).toBe("closed");
    await expect.poll(() => leads.heard).toEqual(numbers.slice(0, 50));
    expect([leads.statuses, leads.others]).toEqual([["open"], []]);
  });

  test("the one that leads is refused alone as well, and the others hear on", async () => {
    const { ann, client, topic } = setting;
    const store = storage();
    const tab = (): Ear => listening(client, shared(transport()), [topic], store);
    const bold = tab();
    await bold.live.opened();
    const others = [tab(), tab()];
    await Promise.all(others.map(({ live }) => live.opened()));
    for (const number of numbers.slice(0, 50)) {
      tell(service, ann.tenantId, topic, number);
      if (number === 20) bold.live.setTopics([topic, `project:${ann.id}`]);
      await sleep(10);
    }
    await expect.poll(() => bold.live.status).toBe("closed");
    for (const { heard, statuses } of others) {
      await expect.poll(() => heard).toEqual(numbers.slice(0, 50));
      expect(statuses).toEqual(["open"]);
    }
    // Who comes later finds it, and it goes once nobody is left.
    const late = tab();
    await late.live.opened();
    for (const { live } of [...others, late]) live.close();
    const next = tab();
    await next.live.opened();
    expect(next.statuses.at(-1)).toBe("open");
  });

  test("nothing is lost while the token is renewed", async () => {
    const { ann, topic } = setting;
    const issue = () =>
      service.running.connection.write("test.session", async (context) => {
        const spec = { ...identitySpec, accessTtlSeconds: 4 };
        return issueSession(spec, context, { principalId: ann.id, tenant: ann.tenantId });
      });
    let tokens = await issue();
    let renewals = 0;
    const client = createClient({
      baseUrl: service.url,
      tokens: {
        caller: () => ann.id,
        get: () => tokens,
        set(next) {
          renewals += 1;
          tokens = next as typeof tokens;
        },
      },
    });
    const ear = listening(client, transport(), [topic]);
    await ear.live.opened();
    let told = 0;
    const isRenewed = (): boolean => renewals > 0;
    for (let after = 0; after < 100; after += isRenewed() ? 1 : 0) {
      tell(service, ann.tenantId, topic, told);
      told += 1;
      await sleep(10);
    }
    await expect.poll(() => [ear.heard.length, ear.statuses]).toEqual([told, ["open"]]);
  });
});

const postgres = engines.find(({ name }) => name === "postgres");
const available = buses.filter(({ isAvailable }) => isAvailable && postgres?.isAvailable === true);
describe.each(available)("streams of events on two processes and a bus over $name", (engine) => {
  let bus: FreshBus;
  let database: FreshDatabase;
  const services: TestService[] = [];
  const data = mkdtempSync(join(tmpdir(), "opwright-shared-"));
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    bus = await engine.create();
    database =
      engine.name === "postgres"
        ? { url: bus.url, drop: () => bus.drop() }
        : await postgres.create();
    const environment = { DATABASE_URL: database.url, DATA_DIR: data, BUS_URL: bus.url };
    for (let made = 0; made < 2; made += 1)
      services.push(await startTestService(postgres, { signsIn: false, environment }));
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    await database.drop();
    if (engine.name === "redis") await bus.drop();
    rmSync(data, { recursive: true, force: true });
  });

  test("nothing is lost where each stream comes to another process than the one before", async () => {
    const [here, there] = services;
    if (here === undefined || there === undefined) throw new Error("there are no services");
    let streams = 0;
    const balanced: typeof fetch = (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (url.includes("/realtime/sse?")) streams += 1;
      return fetch(url.replace(here.url, streams % 2 === 0 ? here.url : there.url), init);
    };
    const setting = await settingOf(here, balanced);
    const ear = listening(setting.client, sse(), [setting.topic]);
    await ear.live.opened();
    await tellWhileSwitching(here, setting, [ear]);
    await expect.poll(() => ear.heard.length).toBe(count);
    expect(ear.heard).toEqual(numbers);
    expect(streams).toBeGreaterThan(2);
    expect([ear.statuses, ear.others]).toEqual([["open"], []]);
  });
});
