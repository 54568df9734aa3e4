// One scenario over every transport with the clients that people use: the same events, whatever carries them
// (service.md "Realtime wire protocol").
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../../support/browser.js";
import { engines, type TestEngine } from "../../support/engines.js";
import { stageText } from "../../../runtime/families/realtime/stage.js";
import { browserEventSource, browserWebSocket } from "../../support/browser-clients.js";
import { peopleOf } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  isDuplex,
  type Client,
  type Connect,
  type ConnectOptions,
} from "../../support/realtime-clients.js";
import { startTestService } from "../../support/service.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";

let browser: Browser | undefined;
const inBrowser =
  (connect: (browser: Browser) => Connect): Connect =>
  (...given) => {
    if (browser === undefined) throw new Error("there is no browser");
    return connect(browser)(...given);
  };

const clients: readonly (readonly [string, boolean, Connect])[] = [
  ["socket.io-client", true, connectSocketIo],
  ["eventsource", true, connectSse],
  ["ws", true, connectWebSocket],
  ["Chromium's EventSource", hasBrowser, inBrowser(browserEventSource)],
  ["Chromium's WebSocket", hasBrowser, inBrowser(browserWebSocket)],
];

const burst = 300;

/** What a client heard in each step: names, data, and positions in place of ids. */
type Transcript = Readonly<Record<string, readonly string[]>>;

async function play(engine: TestEngine, connect: Connect): Promise<Transcript> {
  const service = await startTestService(engine, { signsIn: false });
  const people = peopleOf(service);
  const writer = await people.member("", "tasks.write", "projects.read", "projects.write");
  const ann = await people.member(writer.tenantId, "tasks.read", "projects.read");
  const made = await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" });
  const project: string = made.body.id;
  const assign = async (title: string): Promise<void> => {
    const body = { title, project, assignee: ann.id };
    expect((await people.as(writer.token, "POST", "/tasks", body)).status).toBe(201);
  };
  const transcript: Record<string, readonly string[]> = {};
  let client: Client | undefined;
  let token = ann.token;
  const open = async (options: ConnectOptions = {}): Promise<Client> => {
    client?.close();
    client = await connect(service, { token }, { device: "d", ...options });
    return client;
  };
  /** Notes what has been heard since the connection began, once it is as much as that. */
  const note = async (step: string, { heard }: Client, count: number): Promise<void> => {
    await expect.poll(() => heard.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(count);
    // Nothing more may come.
    await new Promise((resolve) => setTimeout(resolve, 60));
    transcript[step] = heard.map(({ event, id, data }) => {
      const place = id === null ? "live" : String(Number.parseInt(id.split(".")[1] ?? "", 36));
      return `${place} ${event} ${data.title ?? JSON.stringify(data)}`;
    });
  };
  try {
    for (const title of ["one", "two", "three"]) await assign(title);
    const first = await open({ topics: [`project:${project}`] });
    await note("replay", first, 3);
    await assign("four");
    await note("live, in the mailbox and on a topic", first, 5);
    const ids = first.heard.map(({ id }) => id ?? "");
    await first.ack(ids[2] ?? "");
    const second = await open();
    await note("reconnect behind the acknowledgement", second, 1);
    const third = await open({ lastEventId: ids[0] ?? "" });
    await note("reconnect behind an id: duplicates", third, 3);
    expect(third.heard.map(({ id }) => id).slice(0, 2)).toEqual([ids[1], ids[2]]);
    await service.running.connection.write("test.trim", ({ transaction }) =>
      transaction.of(mailboxStore).trim(0, 1, 1_000),
    );
    const fourth = await open({ lastEventId: ids[0] ?? "" });
    await note("gap", fourth, 2);

    const slow = await open({ lastEventId: fourth.heard[1]?.id ?? "" });
    slow.lag(1_000);
    for (let index = 0; index < burst; index += 1) {
      const data = JSON.stringify({ title: `b${index}`, more: "x".repeat(16 * 1024) });
      await service.running.connection.write(
        "test.stage",
        (context) => stageText(context, "task.assigned", data, [ann.id]),
        writer.tenantId,
      );
    }
    await note("slow reader", slow, burst);

    const [before, after] = [
      await people.session(ann.id, ann.tenantId),
      await people.session(ann.id, ann.tenantId),
    ];
    token = before.access_token;
    const last = slow.heard.at(-1)?.id ?? "";
    let renewed = await open({ lastEventId: last });
    token = after.access_token;
    if (isDuplex(renewed)) expect((await renewed.reauthenticate(token)).data).toEqual({ ok: true });
    else renewed = await open({ lastEventId: last });
    await people.as(before.access_token, "POST", "/auth/logout", {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    await assign("after a new token");
    await note("new token", renewed, 1);
    expect(renewed.hasEnded()).toBe(false);

    await people.as(token, "POST", "/auth/logout", {});
    await expect.poll(() => renewed.hasEnded(), { timeout: 5_000 }).toBe(true);
    await assign("nobody hears");
    await note("revoked", renewed, 1);

    token = (await people.session(ann.id, ann.tenantId)).access_token;
    const lastly = await open({ lastEventId: renewed.heard[0]?.id ?? "" });
    await note("back again", lastly, 1);
    await service.running.stop();
    await expect.poll(() => lastly.hasEnded(), { timeout: 5_000 }).toBe(true);
    return transcript;
  } finally {
    client?.close();
    await service.stop();
  }
}

const expected: Transcript = {
  replay: ["1 task.assigned one", "2 task.assigned two", "3 task.assigned three"],
  "live, in the mailbox and on a topic": [
    "1 task.assigned one",
    "2 task.assigned two",
    "3 task.assigned three",
    "live task.changed four",
    "4 task.assigned four",
  ],
  "reconnect behind the acknowledgement": ["4 task.assigned four"],
  "reconnect behind an id: duplicates": [
    "2 task.assigned two",
    "3 task.assigned three",
    "4 task.assigned four",
  ],
  gap: ['live realtime.gap {"from":2,"to":3}', "4 task.assigned four"],
  "slow reader": Array.from({ length: burst }, (_, at) => `${at + 5} task.assigned b${at}`),
  "new token": [`${burst + 5} task.assigned after a new token`],
  revoked: [`${burst + 5} task.assigned after a new token`],
  "back again": [`${burst + 6} task.assigned nobody hears`],
};

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser();
});
afterAll(() => browser?.close());

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test.each(clients.filter(([, isAvailable]) => isAvailable))(
      "%s hears the scenario",
      async (_name, _isAvailable, connect) => {
        expect(await play(engine, connect)).toEqual(expected);
      },
      60_000,
    );
  });
