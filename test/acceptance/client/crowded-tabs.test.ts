// Tabs of one browser that want to hear more together than a connection may: each hears all of its own, whoever comes, switches
// and leaves, and nothing is lost or told twice when a tab changes its line (attack 157).
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../generated/client/index.js";
import {
  connect,
  shareConnection,
  socketIo,
  sse,
  webSocket,
  type Transport,
} from "../../../generated/client/realtime.js";
import { service as definition } from "../../../generated/service.js";
import { Signal } from "../../../runtime/ports/signal.js";
import { engines } from "../../support/engines.js";
import { counted } from "../../support/counted-lines.js";
import { peopleOf, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

const transports: Readonly<Record<string, () => Transport>> = {
  websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
  sse: () => sse(),
  socketio: () => socketIo(io),
};

let service: TestService;
let people: People;
let restore: () => void = () => undefined;
const lives: { close(): void }[] = [];
beforeAll(async () => {
  const [sqlite] = engines;
  if (sqlite === undefined || definition.realtime === undefined) throw new Error("no realtime");
  const authorizeTopics = (topics: readonly string[]): readonly string[] =>
    topics.filter((topic) => !topic.startsWith("closed"));
  const realtime = { ...definition.realtime, authorizeTopics };
  service = await startTestService(sqlite, {
    signsIn: false,
    definition: { ...definition, realtime },
  });
  people = peopleOf(service);
  restore = withTabLocks(tabLocks());
});
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});
afterAll(async () => {
  restore();
  await service.stop();
});

let browsers = 0;

/** A browser of somebody who is signed in, with topics of her own. */
async function browserOf(transport: Transport) {
  const ann = await people.member(
    "",
    "tasks.read",
    "tasks.write",
    "projects.read",
    "projects.write",
  );
  const project = await people.by(ann.token).make("projects", { name: "P", key: "PP" });
  const name = (browsers += 1);
  const topics = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_none, at) => `b${name}:${from + at}`);
  const client = createClient({
    baseUrl: service.url,
    tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
  });
  const kept = new Map<string, string>();
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const { counting, lines } = counted(transport);
  const tab = (wanted: readonly string[]) => {
    const [heard, titles, statuses]: [string[], string[], string[]] = [[], [], []];
    const live = connect(client, {
      transport: shareConnection(counting),
      topics: wanted,
      store,
      onStatus: (status, error) =>
        void statuses.push(error === null ? status : `${status} ${error.code}`),
    });
    lives.push(live);
    live.on("task.typing", ({ who }) => void heard.push(who));
    live.on("task.assigned", ({ title }) => void titles.push(title));
    return { live, heard, titles, statuses };
  };
  const tell = (topic: string, who: string): void => {
    const { signals } = service.running.connection.context("test.told").resources;
    const data = JSON.stringify({ task: "t", who });
    signals.publish(ann.tenantId, { topic }, new Signal("task.typing", data, null));
  };
  const assign = (title: string): Promise<string> =>
    people.by(ann.token).make("tasks", { title, project, assignee: ann.id });
  return { ann, topics, tab, tell, assign, lines };
}

type Browser = Awaited<ReturnType<typeof browserOf>>;
type Tab = ReturnType<Browser["tab"]>;

/** Each of these topics is heard by a tab, once. */
async function hearsAll(
  { tell }: Browser,
  { heard }: Tab,
  topics: readonly string[],
  mark: string,
): Promise<void> {
  for (const topic of topics) tell(topic, `${mark} ${topic}`);
  const own = (): string[] => heard.filter((one) => one.startsWith(`${mark} `));
  await expect.poll(() => own().length).toBeGreaterThanOrEqual(topics.length);
  expect(own()).toEqual(topics.map((topic) => `${mark} ${topic}`));
}

/** Tells numbers on a topic while something is done; returns what was told. */
async function telling(
  { tell }: Browser,
  topic: string,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const told: string[] = [];
  let isOver = false;
  const done = work().finally(() => (isOver = true));
  // What is on its way when the work is done is told as well.
  for (let after = 0; after < 150; after += isOver ? 1 : 0) {
    const who = String(told.length);
    told.push(who);
    tell(topic, who);
    await sleep(10);
  }
  await done;
  return told;
}

const numbersOf = ({ heard }: Tab): string[] => heard.filter((one) => /^\d+$/.test(one));

describe.each(Object.entries(transports))("over %s", (_name, transport) => {
  test("two tabs with twenty topics each hear all of theirs, over as many lines as that takes", async () => {
    const browser = await browserOf(transport());
    const { tab, topics, lines, assign } = browser;
    const [one, other] = [tab(topics(0, 20)), tab(topics(20, 40))];
    await Promise.all([one.live.opened(), other.live.opened()]);
    await hearsAll(browser, one, topics(0, 20), "one");
    await hearsAll(browser, other, topics(20, 40), "other");
    await assign("for both");
    for (const { titles } of [one, other]) await expect.poll(() => titles).toEqual(["for both"]);
    for (const { statuses } of [one, other]) expect(statuses).toEqual(["open"]);
    expect(lines.open).toBe(2);
    // Once there is room, one line is enough.
    await one.live.setTopics(topics(0, 12));
    await expect.poll(() => lines.open, { timeout: 5_000 }).toBe(1);
    await hearsAll(browser, other, topics(20, 40), "more");
    await hearsAll(browser, one, topics(0, 12), "fewer");
    for (const { statuses } of [one, other]) expect(statuses).toEqual(["open"]);
  });

  test("nothing is lost or told twice while a tab goes to a line of its own and comes back", async () => {
    const browser = await browserOf(transport());
    const { tab, topics, lines, assign } = browser;
    const [topic = "", ...more] = topics(40, 60);
    const leads = tab(topics(0, 20));
    await leads.live.opened();
    const switches = tab([topic]);
    await switches.live.opened();
    const told = await telling(browser, topic, async () => {
      for (let round = 0; round < 2; round += 1) {
        await switches.live.setTopics([topic, ...more]);
        await hearsAll(browser, switches, more, `alone ${round}`);
        await assign(`alone ${round}`);
        await leads.live.setTopics(topics(0, 5));
        await expect.poll(() => lines.open, { timeout: 5_000 }).toBe(1);
        await hearsAll(browser, switches, more, `back ${round}`);
        await assign(`back ${round}`);
        await switches.live.setTopics([topic]);
        await leads.live.setTopics(topics(0, 20));
      }
    });
    await expect.poll(() => numbersOf(switches).length).toBe(told.length);
    expect(numbersOf(switches)).toEqual(told);
    const titles = ["alone 0", "back 0", "alone 1", "back 1"];
    for (const one of [leads, switches]) await expect.poll(() => one.titles).toEqual(titles);
    for (const { statuses } of [leads, switches]) expect(statuses).toEqual(["open"]);
  });

  test("the tab that leads goes to a line of its own, too, and leads on", async () => {
    const browser = await browserOf(transport());
    const { tab, topics, lines } = browser;
    const [topic = "", ...more] = topics(40, 60);
    const leads = tab([topic]);
    await leads.live.opened();
    const follows = tab(topics(0, 20));
    await follows.live.opened();
    const told = await telling(browser, topic, async () => {
      await leads.live.setTopics([topic, ...more]);
      await hearsAll(browser, leads, more, "alone");
      await hearsAll(browser, follows, topics(0, 20), "led");
      expect(lines.open).toBe(2);
      await follows.live.setTopics([]);
      await expect.poll(() => lines.open, { timeout: 5_000 }).toBe(1);
      await hearsAll(browser, leads, more, "back");
    });
    await expect.poll(() => numbersOf(leads).length).toBe(told.length);
    expect(numbersOf(leads)).toEqual(told);
    for (const { statuses } of [leads, follows]) expect(statuses).toEqual(["open"]);
  });

  test("a tab with a line of its own takes over from the one that leads, and loses nothing", async () => {
    const browser = await browserOf(transport());
    const { tab, topics, lines, assign } = browser;
    const [topic = ""] = topics(20, 21);
    const leads = tab(topics(0, 20));
    await leads.live.opened();
    const alone = tab(topics(20, 40));
    await alone.live.opened();
    const told = await telling(browser, topic, async () => {
      leads.live.close();
      await assign("meanwhile");
      await expect.poll(() => lines.open, { timeout: 5_000 }).toBe(1);
    });
    await expect.poll(() => numbersOf(alone).length).toBe(told.length);
    expect(numbersOf(alone)).toEqual(told);
    await expect.poll(() => alone.titles).toEqual(["meanwhile"]);
  });

  test("more than one connection may hear is refused to that tab alone, and so is what is not granted", async () => {
    const browser = await browserOf(transport());
    const { tab, topics } = browser;
    const leads = tab(topics(0, 20));
    await leads.live.opened();
    const [greedy, bold] = [tab(topics(20, 53)), tab([...topics(20, 40), "closed"])];
    await expect(greedy.live.opened()).rejects.toMatchObject({ code: "realtime_topics_limit" });
    await expect(bold.live.opened()).rejects.toMatchObject({
      code: "realtime_topics_unauthorized",
    });
    const later = tab(topics(20, 40));
    await later.live.opened();
    await expect(later.live.setTopics(topics(20, 53))).rejects.toMatchObject({
      code: "realtime_topics_limit",
    });
    expect(later.live.status).toBe("closed");
    await hearsAll(browser, leads, topics(0, 20), "still");
    expect(leads.statuses).toEqual(["open"]);
  });
});
