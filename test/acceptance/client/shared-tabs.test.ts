// Tabs of one browser that share a line: where each of them begins, and what becomes of what they wanted to hear
// (attacks 191 and 192).
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createClient } from "../../../generated/client/index.js";
import {
  connect,
  shareConnection,
  webSocket,
  type LiveOptions,
} from "../../../generated/client/realtime.js";
import { Signal } from "../../../runtime/ports/signal.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

let service: TestService;
let people: People;
const stops: (() => void)[] = [];
beforeAll(async () => {
  const [sqlite] = engines;
  if (sqlite === undefined) throw new Error("there is no SQLite");
  service = await startTestService(sqlite, { signsIn: false });
  people = peopleOf(service);
  stops.push(withTabLocks(tabLocks()));
});
const lives: { close(): void }[] = [];
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});
afterAll(async () => {
  for (const stop of stops) stop();
  await service.stop();
});

const storage = (kept = new Map<string, string>()) => ({
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
});
type Store = ReturnType<typeof storage>;

/** Somebody with so many projects, and tabs of her browser. */
async function settingOf(projects: number) {
  const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
  const ann = await people.member("", ...may);
  const ids: string[] = [];
  const letter = (index: number): string => String.fromCharCode(65 + index);
  for (let made = 0; made < projects; made += 1) {
    const key = `K${letter(Math.floor(made / 26))}${letter(made % 26)}`;
    ids.push(await people.by(ann.token).make("projects", { name: key, key }));
  }
  const client = createClient({
    baseUrl: service.url,
    tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
  });
  const store = storage();
  const tab = (topics: readonly string[], options: Partial<LiveOptions> = { store }) => {
    const [titles, heard, statuses]: [string[], string[], string[]] = [[], [], []];
    const others: string[] = [];
    const transport = shareConnection(webSocket((url, protocols) => new WebSocket(url, protocols)));
    const live = connect(client, {
      transport,
      topics,
      onStatus: (status, error) =>
        void statuses.push(error === null ? status : `${status} ${error.code}`),
      ...options,
    });
    lives.push(live);
    live.listen(({ name, data }) => {
      if (name === "task.assigned") titles.push((data as { title: string }).title);
      else if (name === "task.typing") heard.push((data as { who: string }).who);
      else others.push(name);
    });
    return { live, titles, heard, statuses, others };
  };
  const assign = (title: string) =>
    people.by(ann.token).make("tasks", { title, project: ids[0], assignee: ann.id });
  const tell = (topic: string, who: string): void => {
    const { signals } = service.running.connection.context("test.told").resources;
    const data = JSON.stringify({ task: "t", who });
    signals.publish(ann.tenantId, { topic }, new Signal("task.typing", data, null));
  };
  const topics = ids.map((id) => `project:${id}`);
  return { ann, store, tab, assign, tell, topics, topic: topics[0] ?? "" };
}

/** A browser's storage: one for all tabs, and one of this tab. */
function withStorage(localStorage: Store, sessionStorage: Store): void {
  const before = Object.getOwnPropertyDescriptors(globalThis);
  for (const [name, value] of Object.entries({ localStorage, sessionStorage })) {
    Object.defineProperty(globalThis, name, { value, configurable: true });
    const own = before[name as keyof typeof before] as PropertyDescriptor | undefined;
    stops.push(() => {
      if (own === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, own);
    });
  }
}

test("tabs that begin now hear nothing older, also after the service was away", async () => {
  const { tab, assign, topic, store } = await settingOf(1);
  for (const title of ["one", "two", "three"]) await assign(title);
  const first = tab([topic], { from: "now", store });
  await first.live.opened();
  const second = tab([topic], { from: "now", store });
  await second.live.opened();
  await service.restart();
  await assign("new");
  for (const { titles } of [first, second])
    await expect.poll(() => titles, { timeout: 10_000 }).toEqual(["new"]);
  for (const { statuses } of [first, second])
    await expect.poll(() => statuses.at(-1), { timeout: 10_000 }).toBe("open");
  await assign("newer");
  for (const { titles } of [first, second])
    await expect.poll(() => titles).toEqual(["new", "newer"]);
});

test("a tab that has handled nothing yet goes on after a reload where it began", async () => {
  const { tab, assign, topic } = await settingOf(1);
  const [all, ofFirst, ofSecond] = [storage(), storage(), storage()];
  const open = (own: Store) => {
    withStorage(all, own);
    return tab([topic], {});
  };
  const first = open(ofFirst);
  await first.live.opened();
  const before = open(ofSecond);
  await before.live.opened();
  before.live.close();
  await assign("meanwhile");
  await expect.poll(() => first.titles).toEqual(["meanwhile"]);
  // Until the other tab has acknowledged it.
  await sleep(1_500);
  // It leads now, and the service knows only how far the other one was.
  first.live.close();
  const after = open(ofSecond);
  await after.live.opened();
  await expect.poll(() => after.titles).toEqual(["meanwhile"]);
  expect(first.titles).toEqual(["meanwhile"]);
});

/** Has what is opened meanwhile end without a word, as a tab that crashes: its locks end, and it says nothing. */
async function crashed(run: () => Promise<{ close(): void }>): Promise<void> {
  const Channel = globalThis.BroadcastChannel;
  let isMute = false;
  globalThis.BroadcastChannel = class extends Channel {
    override postMessage(message: unknown): void {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
      if (!isMute) super.postMessage(message);
    }
  };
  try {
    const live = await run();
    isMute = true;
    live.close();
  } finally {
    globalThis.BroadcastChannel = Channel;
  }
}

test("topics of crashed tabs are given back", async () => {
  const { tab, topics, topic, tell } = await settingOf(41);
  const leads = tab([topic]);
  await leads.live.opened();
  for (let made = 0; made < 5; made += 1) {
    const wanted = topics.slice(1 + made * 8, 9 + made * 8);
    await crashed(async () => {
      const one = tab(wanted);
      await expect.poll(() => one.statuses).toEqual(["open"]);
      tell(wanted[0] ?? "", `tab ${made}`);
      await expect.poll(() => one.heard).toEqual([`tab ${made}`]);
      return one.live;
    });
  }
  expect(leads.statuses).toEqual(["open"]);
});

test("nobody is present on a topic that no tab wants to hear any more", async () => {
  const { ann, tab, topics } = await settingOf(3);
  const [first = "", second = "", third = ""] = topics;
  const leads = tab([first]);
  await leads.live.opened();
  const follows = tab([second]);
  await follows.live.opened();
  const present = async (topic: string): Promise<number> =>
    (await people.as(ann.token, "GET", `/realtime/presence?topic=${topic}`)).body.count;
  await expect.poll(() => present(second)).toBe(1);
  follows.live.setTopics([first]);
  await expect.poll(() => present(second), { timeout: 10_000 }).toBe(0);
  follows.live.setTopics([third]);
  await expect.poll(() => present(third)).toBe(1);
  follows.live.close();
  await expect.poll(() => present(third), { timeout: 10_000 }).toBe(0);
  expect([await present(first), leads.statuses]).toEqual([1, ["open"]]);
});
