// Hostile clients of the realtime plane (attacks 65 to 72), and what reviews by an attacker have found.
import { mkdtempSync, readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { engines } from "../../support/engines.js";
import { stageText } from "../../../runtime/families/realtime/stage.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { firstToken, startProcess, type ServiceProcess } from "../../support/process.js";
import { fin, frame, opcodes, raw, upgrade } from "../../support/raw-sockets.js";
import { ask, connectSse, connectWebSocket, openSocket } from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const [sqlite] = engines;
if (sqlite === undefined) throw new Error("there is no SQLite");

const text = (value: string): Buffer => Buffer.from(value);
/** A raw WebSocket that has been admitted, without the bytes so far. */
async function rawSocket(url: string, token: string) {
  const one = await raw(url, upgrade(token));
  one.socket.write(frame(fin | opcodes.text, text('{"type":"cmd","cid":1,"event":"nothing"}')));
  await expect.poll(() => one.received().includes("realtime_command_unknown")).toBe(true);
  const before = one.received().length;
  return {
    ...one,
    since: () => one.received().subarray(before),
    /** The code of the close frame, once there is one. */
    closeCode: () => {
      const bytes = one.received().subarray(before);
      const at = bytes.indexOf(fin | opcodes.close);
      return at < 0 ? null : bytes.readUInt16BE(at + 2);
    },
  };
}

describe("frames of RFC 6455", () => {
  let service: TestService;
  let ann: Member;
  beforeAll(async () => {
    service = await startTestService(sqlite, { signsIn: false });
    ann = await peopleOf(service).member("", "tasks.read");
  });
  afterAll(() => service.stop());

  const large = Buffer.alloc(40 * 1024, 0x61);
  test.each<[string, readonly Buffer[], number]>([
    ["invalid UTF-8", [frame(fin | opcodes.text, Buffer.from([0xc3, 0x28]))], 1007],
    [
      "UTF-8 that is cut within a message",
      [frame(opcodes.text, Buffer.from([0xe2, 0x82])), frame(fin, text("x"))],
      1007,
    ],
    [
      "fragments that are too large together",
      [frame(opcodes.text, large), frame(fin, large)],
      1009,
    ],
    ["a frame without a mask", [frame(fin | opcodes.text, text("{}"), false)], 1002],
    ["a reserved bit", [frame(fin | 0x40 | opcodes.text, text("{}"))], 1002],
    ["a reserved opcode", [frame(fin | 3, text("{}"))], 1002],
    ["a ping of 126 bytes", [frame(fin | opcodes.ping, Buffer.alloc(126))], 1002],
    ["a ping in fragments", [frame(opcodes.ping, text("x"))], 1002],
    ["a continuation of nothing", [frame(fin, text("x"))], 1002],
    [
      "a text within a text",
      [frame(opcodes.text, text("x")), frame(fin | opcodes.text, text("x"))],
      1002,
    ],
    [
      "a close code that may not be sent",
      [frame(fin | opcodes.close, Buffer.from([0x03, 0xed]))],
      1002,
    ],
    ["half a close code", [frame(fin | opcodes.close, Buffer.from([3]))], 1002],
    [
      "a close reason that is no UTF-8",
      [frame(fin | opcodes.close, Buffer.from([3, 0xe8, 0xff]))],
      1007,
    ],
    ["a close", [frame(fin | opcodes.close, Buffer.from([3, 0xe8]))], 1000],
  ])(
    "%s",
    async (_name, frames, code) => {
      const client = await rawSocket(service.url, ann.token);
      for (const one of frames) client.socket.write(one);
      await expect.poll(client.closeCode).toBe(code);
      await expect.poll(client.hasEnded, { timeout: 7_000 }).toBe(true);
    },
    10_000,
  );

  test("a message in fragments with a ping between them is one message", async () => {
    const client = await rawSocket(service.url, ann.token);
    client.socket.write(frame(opcodes.text, text('{"type":"cmd","cid":"split ')));
    client.socket.write(frame(fin | opcodes.ping, text("hello")));
    client.socket.write(frame(opcodes.continuation, Buffer.alloc(0)));
    client.socket.write(frame(fin, text('in two","event":"nothing"}')));
    await expect.poll(() => client.since().includes('"cid":"split in two"')).toBe(true);
    expect(client.since().subarray(0, 7).toString("latin1")).toBe("\x8a\x05hello");
    client.socket.destroy();
  });

  test("ten thousand empty fragments end the connection, or cost nothing", async () => {
    const client = await rawSocket(service.url, ann.token);
    client.socket.write(frame(opcodes.text, text("{")));
    const empty = frame(opcodes.continuation, Buffer.alloc(0));
    client.socket.write(Buffer.concat(Array.from({ length: 10_000 }, () => empty)));
    client.socket.write(frame(fin, text("}")));
    await expect
      .poll(() => client.hasEnded() || client.since().includes("realtime_invalid_frame"))
      .toBe(true);
    client.socket.destroy();
  });

  test.each([{}, { cid: null }, { cid: { a: 1 } }, { cid: "x".repeat(10_240) }, { cid: [1] }])(
    "a command with %j is no frame, and the cid does not come back",
    async (members) => {
      const { socket } = await openSocket(service, ann);
      const answer = new Promise<unknown>((resolve) => {
        socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString())));
      });
      socket.send(JSON.stringify({ type: "cmd", event: "nothing", payload: {}, ...members }));
      expect(await answer).toEqual({
        type: "error",
        error: expect.objectContaining({ code: "realtime_invalid_frame" }),
      });
      socket.close();
    },
  );

  test("a command with U+0000 in a text is refused with its pointer", async () => {
    const people = peopleOf(service);
    const writer = await people.member("", "tasks.write");
    const { socket } = await openSocket(service, writer);
    const payload = { task: "01890000-0000-7000-8000-000000000001", text: "a\0b" };
    expect(await ask(socket, { event: "task.comment", payload })).toMatchObject({
      error: { code: "realtime_invalid_payload", context: { errors: [{ path: "/text" }] } },
    });
    socket.close();
  });

  test("of forty commands at once some are refused; one cid has one answer at a time", async () => {
    const people = peopleOf(service);
    const writer = await people.member("", "tasks.write", "tasks.read", "projects.write");
    const project = await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" });
    const made = { title: "t", project: project.body.id };
    const task = (await people.as(writer.token, "POST", "/tasks", made)).body.id;
    const { socket } = await openSocket(service, writer);
    await ask(socket, { event: "nothing" });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        ask(socket, { event: "task.comment", payload: { task, text: "t" } }),
      ),
    );
    const refused = answers.filter(({ error }) => error !== undefined);
    // Sixteen run; some are done before the last is read.
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(24);
    for (const { error } of refused)
      expect(error).toMatchObject({ code: "realtime_commands_limit" });
    const both: unknown[] = [];
    socket.on("message", (data: Buffer) => both.push(JSON.parse(data.toString())));
    const again = { type: "cmd", cid: "same", event: "task.comment", payload: { task, text: "t" } };
    socket.send(JSON.stringify(again));
    socket.send(JSON.stringify(again));
    await expect.poll(() => both.length).toBe(2);
    expect(both).toContainEqual(
      expect.objectContaining({
        error: expect.objectContaining({ code: "realtime_invalid_frame" }),
      }),
    );
    socket.close();
  });

  test("a storm of acknowledgements leaves the connection answering", async () => {
    const { socket } = await openSocket(service, ann);
    const up = JSON.stringify({ type: "realtime.ack", up_to: `${ann.id}.1` });
    // Some more than are taken at once.
    for (let index = 0; index < 500; index += 1) socket.send(up);
    expect(await ask(socket, { event: "nothing" })).toMatchObject({ type: "ack" });
    socket.close();
  });

  test("an origin that is null is another one", async () => {
    const headers = { authorization: `Bearer ${ann.token}`, origin: "null" };
    const address = `${service.url.replace("http", "ws")}/realtime/ws`;
    const socket = new WebSocket(address, { headers });
    expect(await new Promise((resolve) => socket.once("close", resolve))).toBe(1008);
    const stream = await service.call("GET", "/realtime/sse", { headers });
    expect([stream.status, stream.body.code]).toEqual([403, "realtime_origin_forbidden"]);
  });
});

describe("streams", () => {
  let service: TestService;
  let people: People;
  let writer: Member;
  let project = "";
  beforeAll(async () => {
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    writer = await people.member(
      "",
      "tasks.write",
      "tasks.read",
      "projects.write",
      "projects.read",
    );
    project = (await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" })).body
      .id;
  });
  afterAll(() => service.stop());

  test("line breaks and marks in a payload stay in it", async () => {
    const title = "a\r\nb\ndata: x\n\nevent: y: \uFEFF\u2028";
    const client = await connectSse(service, writer, { topics: [`project:${project}`] });
    await people.as(writer.token, "POST", "/tasks", { title, project });
    await expect.poll(() => client.heard.map(({ data }) => data.title)).toEqual([title]);
    client.close();
  });

  test.each([
    "unknown",
    "x".repeat(10_240),
    "01890000-0000-7000-8000-0000000000ff.1",
    "01890000-0000-7000-8000-0000000000ff.zzzzzzzz",
  ])("the last id %.40s leads to the cursor, and never to another mailbox", async (lastEventId) => {
    const ann = await people.member(writer.tenantId, "tasks.read");
    const body = { title: "hers", project, assignee: ann.id };
    await people.as(writer.token, "POST", "/tasks", body);
    const client = await connectSse(service, ann, { lastEventId });
    await expect.poll(() => client.heard.map(({ data }) => data.title)).toEqual(["hers"]);
    client.close();
  });

  test("an id of another tenant's mailbox of the same principal is unknown", async () => {
    const ann = await people.member(writer.tenantId, "tasks.read");
    const body = { title: "here", project, assignee: ann.id };
    await people.as(writer.token, "POST", "/tasks", body);
    const other = await people.tenant();
    await service.running.connection.write("test.member", ({ transaction }) =>
      transaction.of(tenantStore).addMember(other, ann.id),
    );
    const here = await connectSse(service, ann);
    await expect.poll(() => here.heard.length).toBe(1);
    const there = (await people.session(ann.id, other)).access_token;
    const answer = await people.as(there, "GET", `/realtime/history?after=${here.heard[0]?.id}`);
    expect(answer.status).toBe(422);
    here.close();
  });

  test("a stream behind another answer of its connection begins after it, and what comes behind a stream is not read", async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${writer.token}\r\n`;
    const login = '{"login":"nobody@example.test","password":"wrong password"}';
    const one = await raw(
      service.url,
      `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${login.length}\r\n\r\n${login}` +
        `GET /realtime/sse?topics=project:${project} HTTP/1.1\r\n${head}\r\n`.repeat(20),
    );
    const received = (): string => one.received().toString("latin1");
    await expect.poll(received).toContain("text/event-stream");
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
    one.socket.destroy();
    const client = await connectWebSocket(service, writer);
    client.close();
  });

  test("Socket.IO: a client that leaves its namespace is disconnected", async () => {
    const one = await raw(
      service.url,
      upgrade(writer.token, "/realtime/socket.io/?EIO=4&transport=websocket"),
    );
    const auth = JSON.stringify({ token: writer.token });
    await expect.poll(() => one.received().includes('"sid"')).toBe(true);
    one.socket.write(frame(fin | opcodes.text, text(`40${auth}`)));
    await expect.poll(() => one.received().includes("40{")).toBe(true);
    one.socket.write(frame(fin | opcodes.text, text("41")));
    await expect.poll(one.hasEnded, { timeout: 8_000 }).toBe(true);
  }, 10_000);

  test("Socket.IO: a second request of a connection is refused", async () => {
    const one = await raw(
      service.url,
      upgrade(writer.token, "/realtime/socket.io/?EIO=4&transport=websocket"),
    );
    await expect.poll(() => one.received().includes('"sid"')).toBe(true);
    const sid = /"sid":"([^"]+)"/.exec(one.received().toString("latin1"))?.[1];
    const path = `/realtime/socket.io/?EIO=4&transport=websocket&sid=${sid}`;
    expect((await service.call("GET", path)).status).toBe(400);
    const two = await raw(service.url, upgrade(writer.token, path));
    await expect.poll(() => two.received().toString("latin1")).toMatch(/^HTTP\/1\.1 400/);
    one.socket.destroy();
  });

  test("another protocol that is offered is left alone", async () => {
    const one = await raw(
      service.url,
      "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
    );
    await expect.poll(() => one.received().toString("latin1")).toMatch(/^HTTP\/1\.1 200/);
    expect(one.hasEnded()).toBe(false);
    one.socket.destroy();
  });

  test("a client that reads nothing for ten seconds is disconnected, and costs no more than a buffer", async () => {
    const ann = await people.member(writer.tenantId, "tasks.read");
    const data = JSON.stringify({ title: "x".repeat(64 * 1024) });
    for (let index = 0; index < 200; index += 1)
      await service.running.connection.write(
        "test.stage",
        (context) => stageText(context, "task.assigned", data, [ann.id]),
        writer.tenantId,
      );
    const before = process.memoryUsage().rss;
    const stalled = await Promise.all(
      Array.from({ length: 15 }, async (_none, index) => {
        const one = await raw(service.url, upgrade(ann.token, `/realtime/ws?device_id=d${index}`));
        one.socket.pause();
        return one;
      }),
    );
    await sleep(3_000);
    // 12.8 MB wait for each of them in the mailbox.
    expect((process.memoryUsage().rss - before) / 15).toBeLessThan(4 * 1024 * 1024);
    expect(stalled.some(({ hasEnded }) => hasEnded())).toBe(false);
    // Who reads again before the service has ended it is served: the service says when that is.
    const connections = async (): Promise<number> =>
      Number(
        /^opwright_realtime_connections (\d+)$/m.exec(
          await (await fetch(`${service.url}/metrics`)).text(),
        )?.[1],
      );
    await expect.poll(connections, { timeout: 120_000, interval: 500 }).toBe(0);
    for (const { socket } of stalled) socket.resume();
    await expect
      .poll(() => stalled.every(({ hasEnded }) => hasEnded()), { timeout: 20_000 })
      .toBe(true);
  }, 180_000);
});

describe("a process", () => {
  let service: ServiceProcess;
  let token = "";
  beforeAll(async () => {
    const environment = { DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-attacked-")) };
    service = await startProcess(environment);
    token = await firstToken(service.url, environment);
  });
  afterAll(async () => {
    service.child.kill("SIGKILL");
    await service.exited;
  });

  const megabytes = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, "utf8"))?.[1]) /
    1024;
  const lives = async (): Promise<boolean> => (await fetch(`${service.url}/livez`)).ok;

  test("survives upgrades that are reset at once", async () => {
    for (const path of ["/nope", "/realtime/ws", "/realtime/socket.io/?EIO=4&transport=websocket"])
      for (let index = 0; index < 60; index += 1) {
        const one = await raw(service.url, upgrade("x", path));
        await sleep(index % 3);
        one.socket.resetAndDestroy();
      }
    expect(await lives()).toBe(true);
  }, 30_000);

  test.each([
    ["WebSocket", "/realtime/ws", [frame(fin | opcodes.text, text("x"))]],
    [
      "Socket.IO",
      "/realtime/socket.io/?EIO=4&transport=websocket",
      [frame(fin | opcodes.text, text('42["x"]'))],
    ],
  ])(
    "is not filled with answers that a %s client does not read",
    async (_name, path, [one = Buffer.alloc(0)]) => {
      const client = await raw(service.url, upgrade(token, path));
      if (path.includes("socket.io")) {
        await expect.poll(() => client.received().includes('"sid"')).toBe(true);
        client.socket.write(frame(fin | opcodes.text, text(`40${JSON.stringify({ token })}`)));
        await expect.poll(() => client.received().includes("40{")).toBe(true);
      }
      client.socket.pause();
      const before = megabytes();
      const many = Buffer.concat(Array.from({ length: 10_000 }, () => one));
      for (let index = 0; index < 60 && !client.hasEnded(); index += 1) {
        client.socket.write(many);
        await sleep(20);
      }
      await sleep(1_000);
      expect(megabytes() - before).toBeLessThan(150);
      expect(await lives()).toBe(true);
      client.socket.destroy();
    },
    30_000,
  );

  test("survives a stream that is not read when its session ends", async () => {
    const one = await raw(
      service.url,
      `GET /realtime/sse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await expect.poll(() => one.received().includes("connected")).toBe(true);
    one.socket.pause();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${service.url}/auth/logout`, { method: "POST", headers })).status).toBe(
      204,
    );
    // A keepalive later.
    await sleep(16_000);
    expect(await lives()).toBe(true);
    one.socket.destroy();
  }, 30_000);
});

const redisUrl = process.env["OPWRIGHT_TEST_REDIS"];

test.skipIf(redisUrl === undefined)(
  "a bus that does not answer holds up no stop",
  async () => {
    const sockets = new Set<Socket>();
    let isStalled = false;
    const { hostname, port } = new URL(redisUrl ?? "");
    const proxy = createServer((here) => {
      const there = connect(Number(port), hostname);
      for (const socket of [here, there]) {
        sockets.add(socket);
        socket.on("error", () => undefined);
      }
      here.on("data", (chunk) => void (isStalled || there.write(chunk)));
      there.on("data", (chunk) => void (isStalled || here.write(chunk)));
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = proxy.address();
    const proxied = typeof address === "object" && address !== null ? address.port : 0;
    const service = await startTestService(sqlite, {
      environment: { BUS_URL: `redis://127.0.0.1:${proxied}` },
    });
    await sleep(300);
    isStalled = true;
    await service.stop();
    for (const socket of sockets) socket.destroy();
    proxy.close();
  },
  // Waiting for the bus would have no end; a busy machine takes its time to start and stop.
  30_000,
);
