// Topics of an open connection: subscribed to and given up in band, told of what may have been lost; and devices
// that begin now.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Signal } from "../../../runtime/ports/signal.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  openSocket,
  type Client,
  type Connect,
  type ConnectOptions,
} from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const transports: readonly (readonly [string, Connect])[] = [
  ["websocket", connectWebSocket],
  ["sse", connectSse],
  ["socketio", connectSocketIo],
];
const duplex = [
  ["websocket", connectWebSocket],
  ["socketio", connectSocketIo],
] as const;

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let service: TestService;
  let people: People;
  let writer: Member;
  let a = "";
  let b = "";
  const clients: Client[] = [];
  beforeAll(async () => {
    service = await startTestService(engine, { signsIn: false });
    people = peopleOf(service);
    writer = await people.member(
      "",
      "tasks.read",
      "tasks.write",
      "projects.read",
      "projects.write",
    );
    a = await people.by(writer.token).make("projects", { name: "A", key: "AA" });
    b = await people.by(writer.token).make("projects", { name: "B", key: "BB" });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => service.stop());

  const kept = <One extends Client>(client: One): One => {
    clients.push(client);
    return client;
  };
  const opened = async (
    connect: Connect,
    options: ConnectOptions,
    who: Member = writer,
  ): Promise<Client> => kept(await connect(service, who, options));
  const make = (title: string, project: string, more: object = {}): Promise<string> =>
    people.by(writer.token).make("tasks", { title, project, ...more });
  const titles = ({ heard }: Client): readonly unknown[] =>
    heard.flatMap(({ event, data }) => (event.startsWith("task.") ? [data.title] : []));
  test.each(duplex)(
    "over %s topics are heard and given up on an open connection",
    async (_name, connect) => {
      const [topicA, topicB] = [`project:${a}`, `project:${b}`];
      const client = kept(await connect(service, writer, { topics: [topicA] }));
      const subscribed = await client.topics("subscribe", [topicB, topicA]);
      expect(subscribed).toMatchObject({ data: { topics: [topicA, topicB] } });
      await make("in b", b);
      await expect.poll(() => titles(client)).toEqual(["in b"]);
      const given = await client.topics("unsubscribe", [topicA]);
      expect(given).toMatchObject({ data: { topics: [topicB] } });
      await make("in a", a);
      await make("in b again", b);
      await expect.poll(() => titles(client)).toEqual(["in b", "in b again"]);
    },
  );

  test.each(duplex)(
    "over %s nothing changes where one of the topics is not granted",
    async (_name, connect) => {
      const client = kept(await connect(service, writer, { topics: [] }));
      const unknown = `project:${writer.id}`;
      expect(await client.topics("subscribe", [`project:${a}`, unknown])).toMatchObject({
        error: { code: "realtime_topics_unauthorized" },
      });
      expect(await client.topics("subscribe", [`project:${b}`])).toMatchObject({
        data: { topics: [`project:${b}`] },
      });
      const many = Array.from({ length: 32 }, (_none, index) => `project:${index}`);
      expect(await client.topics("subscribe", many)).toMatchObject({
        error: { code: "realtime_topics_limit" },
      });
      for (const wrong of [undefined, [], "a", [1], [""], ["x".repeat(257)]])
        expect(await client.topics("subscribe", wrong)).toMatchObject({
          error: { code: "realtime_invalid_frame" },
        });
      expect(client.hasEnded()).toBe(false);
    },
  );

  test.each(transports)(
    "over %s a new device begins now, and misses nothing after that",
    async (_name, connect) => {
      const ann = await people.member(writer.tenantId, "tasks.read");
      await make("before", a, { assignee: ann.id });
      const all = await opened(connect, { device: "all" }, ann);
      await expect.poll(() => titles(all)).toEqual(["before"]);
      const fresh = await opened(connect, { device: "new", from: "now" }, ann);
      fresh.close();
      await make("meanwhile", a, { assignee: ann.id });
      const again = await opened(connect, { device: "new", from: "now" }, ann);
      await make("after", a, { assignee: ann.id });
      await expect.poll(() => titles(again)).toEqual(["meanwhile", "after"]);
      expect(titles(fresh)).toEqual([]);
      await expect(connect(service, ann, { from: "yesterday" })).rejects.toThrow();
    },
  );

  test("a frame that repeats a name is refused, and one with more members than are known is not", async () => {
    const { socket } = await openSocket(service, writer);
    const answers: unknown[] = [];
    socket.on("message", (text: Buffer) => {
      const frame = JSON.parse(text.toString()) as object;
      if ("type" in frame) answers.push(frame);
    });
    const topics = JSON.stringify([`project:${a}`]);
    socket.send(`{"type":"realtime.subscribe","cid":1,"cid":2,"topics":${topics}}`);
    socket.send(`{"type":"realtime.subscribe","cid":3,"topics":${topics},"later":true}`);
    const context = { reason: "a name is repeated" };
    await expect
      .poll(() => answers)
      .toMatchObject([
        { type: "error", error: { code: "realtime_invalid_frame", context } },
        { type: "ack", cid: 3, data: { topics: [`project:${a}`] } },
      ]);
    socket.close();
  });

  test.each(transports)(
    "over %s, who reads too slowly is told that signals on its topics are gone",
    async (_name, connect) => {
      const topic = `project:${a}`;
      const client = await opened(connect, { topics: [topic] });
      await expect.poll(() => client.presence.length).toBe(1);
      client.lag(2_000);
      const { signals } = service.running.connection.context("test.flood").resources;
      const big = JSON.stringify({ text: "x".repeat(64 * 1024) });
      for (let index = 0; index < 400; index += 1) {
        signals.publish(writer.tenantId, { topic }, new Signal("task.typing", big, null));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const gaps = (): readonly unknown[] =>
        client.heard.flatMap(({ event, data }) => (event === "realtime.gap" ? [data] : []));
      await expect.poll(gaps).toEqual([{ from: 0, to: 0, topics: [topic] }]);
      expect(client.heard.length).toBeLessThan(400);
      // Who is there is told again, since that may have changed as well.
      await expect.poll(() => client.presence.length).toBe(2);
      expect(client.hasEnded()).toBe(false);
    },
    20_000,
  );
});
