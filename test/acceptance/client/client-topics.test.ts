// Topics that are switched while signals come: none is lost of a topic that stays, and none comes twice, over each transport,
// in tabs that share, and where another process takes over (attack 159).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { createClient, type Client } from "../../../generated/client/index.js";
import {
  connect,
  shareConnection,
  socketIo,
  sse,
  webSocket,
  type LiveStatus,
  type Transport,
} from "../../../generated/client/realtime.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { Signal } from "../../../runtime/ports/signal.js";
import { buses, type FreshBus } from "../../support/bus-engines.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import { counted } from "../../support/counted-lines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

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
  const task = await people.by(ann.token).make("tasks", { title: "t", project: stays });
  const client = createClient({
    baseUrl: service.url,
    fetch: fetched,
    tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
  });
  const [topic, ...others] = [stays, first, second].map((id) => `project:${id}`);
  return { ann, client, task, topic: topic ?? "", others };
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
  said: (number: number) => number = (number) => number,
): Promise<void> {
  for (const number of numbers) {
    tell(service, ann.tenantId, topic, said(number));
    for (const [index, { live }] of switching.entries()) {
      const other = others[(number + index) % others.length] ?? "";
      if (number % (index + 2) === 0)
        void live.setTopics([topic, ...(number % 5 === 0 ? [] : [other])]);
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
    void ear.live.setTopics([topic, others[0] ?? ""]);
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
    void ear.live.setTopics(topics);
    await expect
      .poll(() => {
        tell(service, ann.tenantId, others[0] ?? "", count);
        return ear.heard.at(-1);
      })
      .toBe(count);
  });

  test.each([false, true])(
    "whoever sets topics learns when they are heard (shared: %s)",
    async (isShared) => {
      const { ann, client, topic, others } = setting;
      const [first = "", second = ""] = others;
      const store = storage();
      const own = (): Transport => (isShared ? shareConnection(transport()) : transport());
      // Where tabs share, the one that follows sets topics.
      const before = isShared ? [listening(client, own(), [topic], store)] : [];
      for (const { live } of before) await live.opened();
      const { live, heard, statuses } = listening(client, own(), [topic], store);
      await live.opened();
      for (const [number, wanted] of [[topic, first], [second], [topic, first, second]].entries()) {
        await live.setTopics(wanted);
        tell(service, ann.tenantId, wanted.at(-1) ?? "", number);
        await expect.poll(() => heard.at(-1)).toBe(number);
      }
      await live.setTopics([]);
      // What others are set in place of is not heard, and says so.
      const [replaced, last] = [live.setTopics([first]), live.setTopics([second])];
      await expect(replaced).rejects.toMatchObject({ code: "client.aborted" });
      await last;
      expect(statuses).toEqual(["open"]);
      await expect(live.setTopics([`project:${ann.id}`])).rejects.toMatchObject({
        code: "realtime_topics_unauthorized",
      });
      expect(statuses).toEqual(["open", "closed"]);
      await expect(live.setTopics([topic])).rejects.toMatchObject({
        code: "realtime_topics_unauthorized",
      });
      for (const one of before) expect(one.statuses).toEqual(["open"]);
    },
  );

  test.each([false, true])(
    "what is set and asked for while it connects goes over the line that is being made (shared: %s)",
    async (isShared) => {
      const { ann, client, topic, others } = setting;
      const [first = "", second = ""] = others;
      const heardAll: Promise<unknown>[] = [];
      const { counting, lines } = counted(transport(), () =>
        queueMicrotask(() => {
          heardAll.push(ear.live.setTopics([topic, second]));
          heardAll.push(ear.live.command("task.comment", { task: setting.task, text: "early" }));
        }),
      );
      const ear = listening(client, isShared ? shareConnection(counting) : counting, [topic]);
      heardAll.push(ear.live.setTopics([topic, first]));
      await ear.live.opened();
      await Promise.all(heardAll);
      expect(heardAll.length).toBe(3);
      for (const [number, told] of [topic, second].entries())
        tell(service, ann.tenantId, told, number);
      // The command tells of who has commented.
      await expect.poll(() => ear.heard.filter(Number.isInteger)).toEqual([0, 1]);
      expect([lines.made, ear.statuses]).toEqual([1, ["open"]]);
    },
  );

  test("a tab that joins while the line is being made has it go on", async () => {
    const { ann, client, topic, others } = setting;
    const [first = ""] = others;
    const store = storage();
    const joined: Ear[] = [];
    const { counting, lines } = counted(transport(), () =>
      queueMicrotask(() => {
        joined.push(listening(client, shareConnection(counting), [first], store));
      }),
    );
    const leads = listening(client, shareConnection(counting), [topic], store);
    await leads.live.opened();
    await expect.poll(() => joined[0]?.statuses).toEqual(["open"]);
    tell(service, ann.tenantId, first, 1);
    await expect.poll(() => joined[0]?.heard).toEqual([1]);
    expect([lines.made, joined.length, leads.statuses]).toEqual([1, 1, ["open"]]);
  });

  test("tabs that share lose nothing while each of them switches", async () => {
    const { client, topic } = setting;
    const store = storage();
    const tab = (): Ear => listening(client, shareConnection(transport()), [topic], store);
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
    const tab = (): Ear => listening(client, shareConnection(transport()), [topic], store);
    const leads = tab();
    await leads.live.opened();
    const bold = tab();
    await bold.live.opened();
    for (const number of numbers.slice(0, 50)) {
      tell(service, ann.tenantId, topic, number);
      if (number === 20) void bold.live.setTopics([topic, `project:${ann.id}`]);
      await sleep(10);
    }
    await expect.poll(() => bold.live.status).toBe("closed");
    await expect.poll(() => leads.heard).toEqual(numbers.slice(0, 50));
    expect([leads.statuses, leads.others]).toEqual([["open"], []]);
  });

  test("the one that leads is refused alone as well, and the others hear on", async () => {
    const { ann, client, topic } = setting;
    const store = storage();
    const tab = (): Ear => listening(client, shareConnection(transport()), [topic], store);
    const bold = tab();
    await bold.live.opened();
    const others = [tab(), tab()];
    await Promise.all(others.map(({ live }) => live.opened()));
    for (const number of numbers.slice(0, 50)) {
      tell(service, ann.tenantId, topic, number);
      if (number === 20) void bold.live.setTopics([topic, `project:${ann.id}`]);
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
      engine.name === "postgres" ? databaseAt(bus.url, () => bus.drop()) : await postgres.create();
    const environment = { ...database.environment, DATA_DIR: data, BUS_URL: bus.url };
    for (let made = 0; made < 2; made += 1)
      services.push(await startTestService(postgres, { signsIn: false, environment }));
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    await database.drop();
    if (engine.name === "redis") await bus.drop();
    rmSync(data, { recursive: true, force: true });
  });

  /** A stream that comes to another process each time that its topics change. */
  const wandering = async () => {
    const [here, there] = services;
    if (here === undefined || there === undefined) throw new Error("there are no services");
    const streams = { count: 0 };
    const balanced: typeof fetch = (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (url.includes("/realtime/sse?")) streams.count += 1;
      return fetch(url.replace(here.url, streams.count % 2 === 0 ? here.url : there.url), init);
    };
    const setting = await settingOf(here, balanced);
    const ear = listening(setting.client, sse(), [setting.topic]);
    await ear.live.opened();
    return { here, setting, ear, streams };
  };

  test("nothing is lost where each stream comes to another process than the one before", async () => {
    const { here, setting, ear, streams } = await wandering();
    await tellWhileSwitching(here, setting, [ear]);
    await expect.poll(() => ear.heard.length).toBe(count);
    expect(ear.heard).toEqual(numbers);
    expect(streams.count).toBeGreaterThan(2);
    expect([ear.statuses, ear.others]).toEqual([["open"], []]);
  });

  test("equal signals are as many as were told, whichever process tells them (attack 156)", async () => {
    const { here, setting, ear, streams } = await wandering();
    await tellWhileSwitching(here, setting, [ear], () => 7);
    tell(here, setting.ann.tenantId, setting.topic, -1);
    await expect.poll(() => ear.heard.at(-1)).toBe(-1);
    expect(ear.heard.filter((who) => who === 7).length).toBe(count);
    expect(streams.count).toBeGreaterThan(2);
  });
});
