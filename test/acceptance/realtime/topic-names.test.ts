// What a topic may be called: a name with a comma, or one that looks like a list, is one topic on every transport.
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../generated/client/index.js";
import {
  connect,
  socketIo,
  sse,
  webSocket,
  type Transport,
} from "../../../generated/client/realtime.js";
import { service as definition } from "../../../generated/service.js";
import { topicsPattern } from "../../../runtime/contract/realtime.js";
import { Signal } from "../../../runtime/ports/signal.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { openSocket } from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const transports: Readonly<Record<string, () => Transport>> = {
  websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
  sse: () => sse(),
  socketio: () => socketIo(io),
};
const odd = [
  "customer:Smith, John",
  'a "b", c',
  '["x"]',
  '["x',
  "[x",
  "50%2C50",
  "ä,ö",
  "back\\,slash",
];

let service: TestService;
let ann: Member;
/** What the author's function was asked about. */
const asked: (readonly string[])[] = [];
const lives: { close(): void }[] = [];
beforeAll(async () => {
  const [sqlite] = engines;
  if (sqlite === undefined || definition.realtime === undefined) throw new Error("no realtime");
  const authorizeTopics = (topics: readonly string[]): readonly string[] => {
    asked.push(topics);
    return topics;
  };
  const realtime = { ...definition.realtime, authorizeTopics };
  service = await startTestService(sqlite, {
    signsIn: false,
    definition: { ...definition, realtime },
  });
  ann = await peopleOf(service).member("", "tasks.read");
});
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});
afterAll(() => service.stop());

const tell = (topic: string): void => {
  const { signals } = service.running.connection.context("test.told").resources;
  const data = JSON.stringify({ task: "t", who: topic });
  signals.publish(ann.tenantId, { topic }, new Signal("task.typing", data, null));
};

describe.each(Object.entries(transports))("over %s", (_name, transport) => {
  const listening = (topics: readonly string[]) => {
    const client = createClient({
      baseUrl: service.url,
      tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
    });
    const kept = new Map<string, string>();
    const store = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    const live = connect(client, { transport: transport(), topics, store });
    lives.push(live);
    const heard: string[] = [];
    live.on("task.typing", ({ who }) => void heard.push(who));
    return { live, heard };
  };

  test("odd names are heard whole, from the beginning and once they are set", async () => {
    asked.length = 0;
    const { live, heard } = listening(odd);
    await live.opened();
    expect(asked).toContainEqual(odd);
    // What they would be if they were split.
    for (const part of odd.flatMap((name) => name.split(","))) if (!odd.includes(part)) tell(part);
    for (const name of odd) tell(name);
    await expect.poll(() => heard).toEqual(odd);
    const other = listening(["plain"]);
    await other.live.opened();
    await other.live.setTopics(["plain", ...odd]);
    for (const name of odd) tell(name);
    await expect.poll(() => other.heard).toEqual(odd);
  });
});

const addressed = (topics: string): string => `?topics=${encodeURIComponent(topics)}`;

test.each([
  ['["a,b","c"]', ["a,b", "c"]],
  ['["a,b", "c"]', ["a,b", "c"]],
  ["a,b", ["a", "b"]],
  ["[a", ["[a"]],
])("a query with the topics %s names %j", async (text, names) => {
  expect(text).toMatch(new RegExp(topicsPattern, "u"));
  asked.length = 0;
  const headers = { authorization: `Bearer ${ann.token}` };
  const answer = await fetch(`${service.url}/realtime/sse${addressed(text)}`, { headers });
  await answer.body?.cancel();
  expect(answer.status).toBe(200);
  expect(asked).toContainEqual(names);
});

test.each(['["a', '["a"b"]', '["a",1]', '["a",""]', '["a"],b'])(
  "a query with the topics %s is refused",
  async (text) => {
    expect(text).not.toMatch(new RegExp(topicsPattern, "u"));
    const headers = { authorization: `Bearer ${ann.token}` };
    const answer = await fetch(`${service.url}/realtime/sse${addressed(text)}`, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { context: { errors: [{ path: "/topics" }] } },
    ]);
    const { socket, closed } = await openSocket(service, ann, addressed(text));
    await expect.poll(closed).toMatchObject({ code: 1008 });
    expect(closed()?.reason).toMatch(/^core\.validation/);
    socket.close();
  },
);

test("a list has as many topics as a connection may hear", async () => {
  const many = Array.from({ length: 33 }, (_none, at) => `${at},`);
  const headers = { authorization: `Bearer ${ann.token}` };
  const address = `${service.url}/realtime/sse${addressed(JSON.stringify(many))}`;
  const answer = await fetch(address, { headers });
  expect(await answer.json()).toMatchObject({ code: "realtime_topics_limit" });
});
