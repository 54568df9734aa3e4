// Devices that come again while nobody has seen them go, and streams that nobody reads any more (attack 78).
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../../generated/client/index.js";
import {
  connect as connectClient,
  socketIo,
  sse,
  webSocket,
  type Transport,
} from "../../../generated/client/realtime.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  openSocket,
  type Client,
  type Connect,
} from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
if (sqlite === undefined) throw new Error("there is no SQLite");
const postgres = engines.find(({ name }) => name === "postgres");

const connects: Readonly<Record<string, Connect>> = {
  sse: connectSse,
  websocket: connectWebSocket,
  socketio: connectSocketIo,
};

interface Proxy {
  readonly url: string;
  /** Cuts its clients off. */
  cut(): void;
  stop(): Promise<void>;
}

/** A proxy that takes what the service sends, and never tells it that a client has gone. */
async function deafProxy(to: string): Promise<Proxy> {
  const [clients, upstream] = [new Set<Socket>(), new Set<Socket>()];
  const server = createServer((here) => {
    const there = connect(Number(new URL(to).port), "127.0.0.1");
    clients.add(here);
    upstream.add(there);
    for (const socket of [here, there]) socket.on("error", () => undefined);
    here.on("data", (chunk) => there.write(chunk));
    there.on("data", (chunk) => void (here.destroyed || here.write(chunk)));
    there.on("close", () => here.destroy());
    here.on("close", () => clients.delete(here));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of clients) socket.destroy();
    },
    async stop() {
      for (const socket of [...clients, ...upstream]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Team {
  readonly service: TestService;
  readonly people: People;
  readonly ann: Member;
  readonly bob: Member;
  readonly project: string;
}

async function team(environment: Readonly<Record<string, string>> = {}): Promise<Team> {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const service = await startTestService(sqlite, { signsIn: false, environment });
  const people = peopleOf(service);
  const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
  const ann = await people.member("", ...may);
  const bob = await people.member(ann.tenantId, "tasks.read", "projects.read");
  const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
  return { service, people, ann, bob, project: made.body.id };
}

/** What a client was told of others. */
/** Who is there as a client has been told, and who has ever left. What happens within a tick is one frame. */
const told = ({
  presence,
}: Client): { readonly here: readonly string[]; readonly left: readonly string[] } => {
  let here = new Set<string>();
  const left: string[] = [];
  for (const { event, data } of presence) {
    if (event === "realtime.presence") here = new Set(data.principals);
    if (event === "realtime.joined") here.add(data.principal);
    if (event === "realtime.left") left.push(data.principal);
  }
  return { here: [...here].sort(), left };
};

describe.each(Object.entries(connects))("over %s", (name, open) => {
  let made: Team;
  let proxy: Proxy;
  beforeAll(async () => {
    // Longer than the hundred times take.
    made = await team({ SSE_SILENT_SECONDS: "6" });
    proxy = await deafProxy(made.service.url);
  });
  afterAll(async () => {
    await proxy.stop();
    await made.service.stop();
  });

  test("a device that comes again a hundred times is never turned away, and is there once", async () => {
    const { service, people, ann, bob, project } = made;
    const topics = [`project:${project}`];
    const watching = await connectWebSocket(service, ann, { topics });
    let last: Client | undefined;
    for (let time = 0; time < 100; time += 1) {
      last = await open(proxy, bob, { device: "phone", topics });
      if (time === 99) break;
      // The network is gone, and nobody says so: neither end has closed.
      proxy.cut();
    }
    const body = { title: "for him", project, assignee: bob.id };
    await people.as(ann.token, "POST", "/tasks", body);
    await expect
      .poll(() => last?.heard.filter(({ event }) => event === "task.assigned").length)
      .toBe(1);
    await expect.poll(() => told(watching)).toEqual({ here: [ann.id, bob.id].sort(), left: [] });
    if (name === "sse") {
      proxy.cut();
      await expect
        .poll(() => told(watching), { timeout: 30_000 })
        .toMatchObject({ left: [bob.id] });
    }
    last?.close();
    watching.close();
  });
});

describe("a device has one connection", () => {
  let made: Team;
  beforeAll(async () => {
    made = await team();
  });
  afterAll(() => made.service.stop());

  test.each(["sse", "websocket", "socketio"])(
    "over %s the earlier one is told why",
    async (name) => {
      const { service, bob } = made;
      const heard: unknown[] = [];
      if (name === "sse") {
        const headers = { authorization: `Bearer ${bob.token}` };
        const stream = await fetch(`${service.url}/realtime/sse?device_id=${name}`, { headers });
        await connectSse(service, bob, { device: name });
        const text = await stream.text();
        expect(text).toMatch(/\nretry: 15000\n\nevent: realtime\.error\ndata: (.*)\n\n$/);
        expect(text).toContain('"code":"realtime_device_replaced"');
      } else if (name === "websocket") {
        const earlier = await openSocket(service, bob, `?device_id=${name}`);
        await connectWebSocket(service, bob, { device: name });
        await expect
          .poll(earlier.closed)
          .toEqual({ code: 1008, reason: "realtime_device_replaced" });
      } else {
        const path = "/realtime/socket.io";
        const auth = { token: bob.token, device_id: name };
        const earlier = io(service.url, { path, transports: ["websocket"], auth, forceNew: true });
        earlier.on("realtime.error", ({ error }) => heard.push(error.code));
        await new Promise<void>((resolve) => earlier.on("connect", resolve));
        const reason = new Promise((resolve) => earlier.on("disconnect", resolve));
        const later = await connectSocketIo(service, bob, { device: name });
        // Of this reason Socket.IO's client does not come back by itself.
        expect(await reason).toBe("io server disconnect");
        expect(heard).toEqual(["realtime_device_replaced"]);
        await sleep(1_500);
        expect([earlier.connected, later.hasEnded()]).toEqual([false, false]);
        earlier.close();
        later.close();
      }
    },
  );

  test("connections without a device, and those of another device or caller, stay", async () => {
    const { service, ann, bob } = made;
    for (const open of Object.values(connects)) {
      const clients = await Promise.all([
        open(service, bob),
        open(service, bob),
        open(service, bob, { device: "one" }),
        open(service, bob, { device: "two" }),
        open(service, ann, { device: "one" }),
      ]);
      await sleep(200);
      expect(clients.map((client) => client.hasEnded())).toEqual(clients.map(() => false));
      for (const client of clients) client.close();
    }
  });
});

describe("our client", () => {
  let made: Team;
  beforeAll(async () => {
    made = await team();
  });
  afterAll(() => made.service.stop());

  const transports: Readonly<Record<string, () => Transport>> = {
    websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
    sse: () => sse(),
    socketio: () => socketIo(io),
  };

  test.each(Object.entries(transports))(
    "in a tab that was duplicated goes on as another device, over %s",
    async (_name, transport) => {
      const { service, people, ann, bob, project } = made;
      const kept = new Map<string, string>();
      const tab = () => {
        // A duplicate begins with what the other has kept.
        const own = new Map(kept);
        const store = {
          getItem: (key: string) => own.get(key) ?? null,
          setItem: (key: string, value: string) => void own.set(key, value),
        };
        const tokens = { get: () => ({ access_token: bob.token }), set() {}, caller: () => "bob" };
        const client = createClient({ baseUrl: service.url, tokens });
        const [heard, statuses]: [string[], string[]] = [[], []];
        const onStatus = (status: string) => void statuses.push(status);
        const live = connectClient(client, { transport: transport(), store, onStatus });
        live.on("task.assigned", ({ title }) => void heard.push(title));
        return { live, heard, statuses, own };
      };
      const assign = (title: string) =>
        people.as(ann.token, "POST", "/tasks", { title, project, assignee: bob.id });
      const first = tab();
      await first.live.opened();
      await assign(`${_name} one`);
      await expect.poll(() => first.heard).toContain(`${_name} one`);
      for (const [key, value] of first.own) kept.set(key, value);
      const second = tab();
      await second.live.opened();
      await expect.poll(() => first.statuses.filter((status) => status === "open").length).toBe(2);
      await assign(`${_name} two`);
      for (const { heard } of [first, second])
        await expect.poll(() => heard.filter((one) => one === `${_name} two`).length).toBe(1);
      // They leave each other alone, and nothing came twice.
      await sleep(1_500);
      expect(first.statuses.at(-1)).toBe("open");
      expect(second.statuses.filter((status) => status === "open").length).toBe(1);
      expect(first.heard.filter((one) => one === `${_name} one`).length).toBe(1);
      for (const { live } of [first, second]) live.close();
    },
  );

  test.each(Object.entries(transports))(
    "with a device of the application's own closes where another one names it, over %s",
    async (_name, transport) => {
      const { service, bob } = made;
      const open = () => {
        const tokens = { get: () => ({ access_token: bob.token }), set() {}, caller: () => "bob" };
        const client = createClient({ baseUrl: service.url, tokens });
        const told: unknown[] = [];
        const onStatus = (status: string, error: { code: string } | null) =>
          void told.push(error === null ? status : [status, error.code]);
        const deviceId = `worker-${_name}`;
        const live = connectClient(client, { transport: transport(), deviceId, onStatus });
        return { live, told };
      };
      const first = open();
      await first.live.opened();
      const second = open();
      await second.live.opened();
      await expect.poll(() => first.told.at(-1)).toEqual(["closed", "realtime_device_replaced"]);
      await sleep(500);
      expect(second.live.status).toBe("open");
      second.live.close();
    },
  );

  test("over Server-Sent Events says that it lives when the service says something", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const posted: unknown[] = [];
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    const client = createClient({
      baseUrl: "http://service.test",
      fetch: async (input, init) => {
        const request = new Request(input, init);
        if (request.method === "POST") {
          posted.push([new URL(request.url).search, await request.json()]);
          return Response.json({ acked: false });
        }
        return new Response(
          new ReadableStream({ start: (controller) => void (stream = controller) }),
        );
      },
    });
    const live = connectClient(client, { transport: sse(), deviceId: "d" });
    await live.opened();
    const say = (): void => stream?.enqueue(new TextEncoder().encode(": keepalive\n\n"));
    say();
    await sleep(50);
    expect(posted).toEqual([]);
    vi.setSystemTime(Date.now() + 30_000);
    say();
    await expect.poll(() => posted).toEqual([["?device_id=d", { up_to: "-" }]]);
    live.close();
    vi.useRealTimers();
  });
});

describe("a stream without a sign of life", () => {
  let made: Team;
  beforeAll(async () => {
    made = await team({ SSE_SILENT_SECONDS: "1" });
  });
  afterAll(() => made.service.stop());

  const streamOf = async (device: string): Promise<{ hasEnded(): boolean; text(): string }> => {
    const headers = { authorization: `Bearer ${made.bob.token}` };
    const path = `/realtime/sse?device_id=${device}`;
    const answer = await fetch(`${made.service.url}${path}`, { headers });
    let [text, hasEnded] = ["", false];
    const reading = async (): Promise<void> => {
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) text += decoder.decode(chunk as Uint8Array);
      hasEnded = true;
    };
    void reading();
    return { hasEnded: () => hasEnded, text: () => text };
  };

  test("ends, so that whoever is there comes back at once; one that gives signs goes on", async () => {
    const [silent, living] = [await streamOf("silent"), await streamOf("living")];
    const sign = (): Promise<Response> =>
      fetch(`${made.service.url}/realtime/sse/ack?device_id=living`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${made.bob.token}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ up_to: "-" }),
      });
    for (let time = 0; time < 12; time += 1) {
      expect((await sign()).status).toBe(200);
      await sleep(200);
    }
    expect(silent.hasEnded()).toBe(true);
    expect(silent.text()).toMatch(/\nretry: \d{3}\n\n$/);
    expect(living.hasEnded()).toBe(false);
    await expect.poll(living.hasEnded).toBe(true);
  });

  test("comes back where it was, without others being told that it went", async () => {
    const { service, people, ann, bob, project } = made;
    const topics = [`project:${project}`];
    const watching = await connectWebSocket(service, ann, { topics });
    const heard: string[] = [];
    let opened = 0;
    const query = `device_id=source&topics=${topics[0]}`;
    const { EventSource } = await import("eventsource");
    const source = new EventSource(`${service.url}/realtime/sse?${query}`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${bob.token}` } }),
    });
    source.addEventListener("open", () => (opened += 1));
    source.addEventListener("task.assigned", ({ data }) => heard.push(JSON.parse(data).data.title));
    await expect.poll(() => opened).toBe(1);
    for (const title of ["one", "two", "three"]) {
      const body = { title, project, assignee: bob.id };
      await people.as(ann.token, "POST", "/tasks", body);
      const before = opened;
      await expect.poll(() => opened).toBeGreaterThan(before);
    }
    await expect.poll(() => heard).toEqual(["one", "two", "three"]);
    await expect.poll(() => told(watching)).toEqual({ here: [ann.id, bob.id].sort(), left: [] });
    source.close();
    watching.close();
  });
});

test.skipIf(postgres?.isAvailable !== true)(
  "a sign of life counts on whichever process it is given",
  async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const database = await postgres.create();
    const data = mkdtempSync(join(tmpdir(), "opwright-signs-"));
    const environment = { ...database.environment, DATA_DIR: data, SSE_SILENT_SECONDS: "1.5" };
    const here = await startTestService(postgres, { signsIn: false, environment });
    const there = await startTestService(postgres, { signsIn: false, environment });
    const bob = await peopleOf(here).member("", "tasks.read");
    const living = await connectSse(here, bob, { device: "living" });
    const silent = await connectSse(here, bob, { device: "silent" });
    const signs = await connectSse(there, bob, { device: "other" });
    for (let time = 0; time < 12; time += 1) {
      const answer = await fetch(`${there.url}/realtime/sse/ack?device_id=living`, {
        method: "POST",
        headers: { authorization: `Bearer ${bob.token}`, "content-type": "application/json" },
        body: JSON.stringify({ up_to: "-" }),
      });
      expect(answer.status).toBe(200);
      await sleep(300);
    }
    expect([living.hasEnded(), silent.hasEnded()]).toEqual([false, true]);
    for (const client of [living, silent, signs]) client.close();
    await here.stop();
    await there.stop();
    await database.drop();
    rmSync(data, { recursive: true, force: true });
  },
);

test("a process takes so many connections of all callers together", async () => {
  const { service, ann, bob } = await team({ REALTIME_CONNECTIONS: "2" });
  const clients = [
    await connectWebSocket(service, ann),
    await connectWebSocket(service, bob, { device: "d" }),
  ];
  const stream = await fetch(`${service.url}/realtime/sse`, {
    headers: { authorization: `Bearer ${ann.token}` },
  });
  expect(stream.status).toBe(503);
  expect(stream.headers.get("retry-after")).toBe("5");
  // Who comes again takes its own place.
  clients.push(await connectWebSocket(service, bob, { device: "d" }));
  for (const client of clients) client.close();
  await service.stop();
});
