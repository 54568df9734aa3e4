// A realtime connection belongs to one caller: commands go in the name of whoever asked, signals reach nobody else, and it is
// left where somebody else signs in (attack 188).
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient, tasks } from "../../../generated/client/index.js";
import {
  connect,
  shareConnection,
  socketIo,
  sse,
  webSocket,
  type LiveStatus,
  type Transport,
} from "../../../generated/client/realtime.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

const transports: Readonly<Record<string, () => Transport>> = {
  websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
  sse: () => sse(),
  socketio: () => socketIo(io),
  shared: () => shareConnection(webSocket((url, protocols) => new WebSocket(url, protocols))),
};

const lives: { close(): void }[] = [];
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});

describe.each(Object.entries(transports))("over %s", (name, transport) => {
  let service: TestService;
  let people: People;
  let ann: Member;
  let bob: Member;
  let project = "";
  let task = "";
  let restore: () => void = () => undefined;
  beforeAll(async () => {
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error("there is no SQLite");
    restore = withTabLocks(tabLocks());
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
    ann = await people.member("", ...may);
    bob = await people.member(ann.tenantId, ...may);
    project = await people.by(ann.token).make("projects", { name: "P", key: "PP" });
    task = await people.by(ann.token).make("tasks", { title: "t", project });
  });
  afterAll(async () => {
    restore();
    await service.stop();
  });

  /** The page of a browser where Ann is signed in; `millis` is what its store takes to answer. */
  const page = (millis = 0) => {
    const state = { who: ann as Member | null };
    const client = createClient({
      baseUrl: service.url,
      tokens: {
        get: async () => {
          const { who } = state;
          await sleep(millis);
          return who === null ? null : { access_token: who.token };
        },
        set: () => undefined,
        caller: () => state.who?.id ?? null,
      },
    });
    const kept = new Map<string, string>();
    const statuses: LiveStatus[] = [];
    const live = connect(client, {
      transport: transport(),
      deviceId: `${name}-${Math.random()}`,
      from: "now",
      store: {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, value),
      },
      onStatus: (status) => void statuses.push(status),
    });
    lives.push(live);
    const heard: string[] = [];
    live.on("task.assigned", ({ title }) => void heard.push(`${title} on ${state.who?.id}'s page`));
    return { client, live, state, heard, statuses };
  };
  const assign = (title: string, { id }: Member) =>
    people.by(ann.token).make("tasks", { title, project, assignee: id });

  test("a command that was asked for while tokens are read is not sent as who signs in meanwhile", async () => {
    const { live, state } = page(40);
    const command = live.command("task.comment", { task, text: "ann's" }).settled();
    await sleep(10);
    state.who = bob;
    expect(await command).toMatchObject({ ok: false, error: { code: "client.aborted" } });
    // The connection is Bob's, and his commands go.
    expect(await live.command("task.comment", { task, text: "bob's" })).toMatchObject({
      who: bob.id,
    });
  });

  test("a command goes as who asks for it, over a line of hers", async () => {
    const { live, state } = page();
    await live.opened();
    expect(await live.command("task.comment", { task, text: "a" })).toMatchObject({ who: ann.id });
    state.who = bob;
    expect(await live.command("task.comment", { task, text: "b" })).toMatchObject({ who: bob.id });
    state.who = ann;
    expect(await live.command("task.comment", { task, text: "c" })).toMatchObject({ who: ann.id });
  });

  test("a new caller hears their own signals, and none of the previous caller's", async () => {
    const { live, state, heard, statuses } = page();
    await live.opened();
    await assign("ann's", ann);
    await expect.poll(() => heard).toEqual([`ann's on ${ann.id}'s page`]);
    state.who = bob;
    await assign("private", ann);
    // The connection is made anew also where nothing comes over it.
    await expect
      .poll(() => statuses.filter((one) => one === "open").length, { timeout: 8_000 })
      .toBe(2);
    await assign("bob's", bob);
    await expect.poll(() => heard.length, { timeout: 8_000 }).toBe(2);
    expect(heard[1]).toBe(`bob's on ${bob.id}'s page`);
    // Ann has lost nothing: what came meanwhile is still hers to hear.
    state.who = ann;
    await expect.poll(() => heard[2], { timeout: 8_000 }).toBe(`private on ${ann.id}'s page`);
  });

  test("signals that wait behind a slow handler do not reach another caller's page", async () => {
    const { live, state } = page();
    const heard: string[] = [];
    let go = (): void => undefined;
    live.on("task.assigned", async ({ title }) => {
      heard.push(`${title} ${state.who?.id}`);
      await new Promise<void>((resolve) => (go = resolve));
    });
    await live.opened();
    for (const title of ["one", "two", "three"]) await assign(title, ann);
    await expect.poll(() => heard).toEqual([`one ${ann.id}`]);
    state.who = bob;
    go();
    await sleep(1_500);
    expect(heard).toEqual([`one ${ann.id}`]);
  });

  test("it comes back for who signs in where a session has ended meanwhile", async () => {
    const carl = await people.member(ann.tenantId, "tasks.read", "tasks.write");
    const { client, live, state } = page();
    state.who = carl;
    await expect.poll(async () => (await tasks.get(client, { id: task })).id).toBe(task);
    await live.opened();
    state.who = bob;
    await people.as(carl.token, "POST", "/auth/logout", {});
    await sleep(300);
    expect(await live.command("task.comment", { task, text: "b" })).toMatchObject({ who: bob.id });
  });
});
