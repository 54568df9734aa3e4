// What one connection may take: requests in their turn, answers that are read, a first byte in time; and how it ends.
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { defineService, nothing, route } from "../../../runtime/index.js";
import { ByteReply } from "../../../runtime/operations/byte-reply.js";
import { engines } from "../../support/engines.js";
import { slow, slowRoute } from "../../support/slow-route.js";
import { startTestService, type TestService } from "../../support/service.js";

const [engine] = engines;

/** How many large answers were made. */
const seen = { large: 0 };
const large = "x".repeat(8 * 1024 * 1024);
/** More than the connection takes in while nobody reads. */
const vast = "x".repeat(32 * 1024 * 1024);

const definition = defineService({
  name: "slow",
  title: "Slow",
  version: "1.0.0",
  routes: [
    slowRoute,
    route({
      operationId: "slow.at_once",
      method: "GET",
      path: "/at-once",
      status: 200,
      input: nothing,
      transaction: "read",
      run: () => ({ said: "at once" }),
    }),
    route({
      operationId: "slow.large",
      method: "GET",
      path: "/large",
      status: 200,
      input: nothing,
      transaction: "read",
      run: () => {
        seen.large += 1;
        return { large };
      },
    }),
    route({
      operationId: "slow.vast",
      method: "GET",
      path: "/vast",
      status: 200,
      input: nothing,
      transaction: "read",
      run: (_input, { answer }) => {
        answer.grow(vast.length);
        return { vast };
      },
    }),
    route({
      operationId: "slow.bytes",
      method: "GET",
      path: "/bytes",
      status: 200,
      input: nothing,
      transaction: "read",
      run: (_input, { answer }) => {
        answer.grow(vast.length);
        const chunk = Buffer.from(vast.slice(0, 64 * 1024));
        const chunks = Array.from({ length: vast.length / chunk.length }, () => chunk);
        const headers = { "Content-Length": String(vast.length) };
        return new ByteReply(200, headers, Readable.from(chunks));
      },
    }),
  ],
});

let service: TestService | undefined;
const open: Socket[] = [];

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await service?.stop();
  service = undefined;
  slow.most = 0;
  seen.large = 0;
});

async function started(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  if (engine === undefined) throw new Error("no engine");
  service = await startTestService(engine, { definition, environment });
  return service;
}

/** A connection that speaks nothing by itself. */
async function socketTo({ url }: TestService): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  open.push(socket);
  await once(socket, "connect");
  return socket;
}

function textOf(socket: Socket): () => string {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  return () => text;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("requests of one connection", () => {
  test("that are answered at once are all answered, beside as many of others", async () => {
    const running = await started();
    const sockets = await Promise.all(Array.from({ length: 40 }, () => socketTo(running)));
    const texts = sockets.map(textOf);
    for (const socket of sockets) socket.write(get("/at-once").repeat(1_000));
    const answered = (): readonly number[] =>
      texts.map((text) => text().split('{"said":"at once"}').length - 1);
    await expect.poll(answered, { timeout: 20_000 }).toEqual(sockets.map(() => 1_000));
  });

  test("run one behind the other, and are answered in their order", async () => {
    const socket = await socketTo(await started());
    const text = textOf(socket);
    socket.write(
      Array.from({ length: 50 }, (_, at) => get(`/wait?millis=${(at * 7) % 5}&name=${at}`)).join(
        "",
      ),
    );
    await expect.poll(() => [...text().matchAll(/"name":(\d+)/g)].length).toBe(50);
    const names = [...text().matchAll(/"name":(\d+)/g)].map(([, name]) => Number(name));
    expect(names).toEqual(Array.from({ length: 50 }, (_, at) => at));
    expect(slow.most).toBe(1);
  });

  test("that are more than the service takes in at once are all answered", async () => {
    const socket = await socketTo(await started());
    const text = textOf(socket);
    socket.write(get("/wait?millis=0&name=1").repeat(2_000));
    await expect
      .poll(() => [...text().matchAll(/"name":1/g)].length, { timeout: 30_000 })
      .toBe(2_000);
  });

  test("whose answers are not read run no further, and their connection ends", async () => {
    const running = await started({ STALL_SECONDS: "0.5" });
    const socket = await socketTo(running);
    socket.pause();
    socket.write(get("/large").repeat(400));
    const stalled = async (): Promise<unknown> =>
      /^opwright_connections_stalled_total (\d+)$/m.exec(
        (await running.call("GET", "/metrics")).body,
      )?.[1];
    await expect.poll(stalled).toBe("1");
    expect(seen.large).toBe(1);
  });

  test.each(["/vast", "/bytes"])(
    "of which one leaves in the middle of its answer give back what that held (%s)",
    async (path) => {
      const running = await started();
      const held = async (): Promise<string | undefined> =>
        /^opwright_answers_bytes (\d+)$/m.exec((await running.call("GET", "/metrics")).body)?.[1];
      const socket = await socketTo(running);
      socket.write(get(path));
      await once(socket, "data");
      socket.pause();
      expect(await held()).toBe(String(vast.length));
      socket.destroy();
      await expect.poll(held).toBe("0");
      expect((await running.call("GET", path)).status).toBe(200);
      await expect.poll(held).toBe("0");
    },
  );

  test("that ask for another protocol are bounded like others, and hold up no stop", async () => {
    const running = await started({ STALL_SECONDS: "0.5", DRAIN_SECONDS: "0.5" });
    const upgrade = "Connection: Upgrade\r\nUpgrade: h2c\r\n";
    const ask = async (): Promise<Socket> => {
      const socket = await socketTo(running);
      socket.pause();
      socket.write(`GET /large HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`);
      return socket;
    };
    const metrics = async (): Promise<string> => (await running.call("GET", "/metrics")).body;
    await ask();
    await expect.poll(metrics).toContain("opwright_connections_stalled_total 1");
    await ask();
    await sleep(50);
    const begun = performance.now();
    await running.stop();
    service = undefined;
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  test("that come behind an answer which closes the connection are not run", async () => {
    const running = await started({ SETTLE_SECONDS: "0.5" });
    const socket = await socketTo(running);
    const text = textOf(socket);
    const before = seen.large;
    socket.write(get("/wait?millis=200&name=7") + get("/large"));
    await sleep(50);
    const stopped = running.stop();
    service = undefined;
    await once(socket, "close");
    await stopped;
    expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(text()).toContain("Connection: close");
    expect(seen.large).toBe(before);
  });
});

describe("connections", () => {
  test("that bring nothing are ended, and others are not", async () => {
    const running = await started({ IDLE_SECONDS: "0.3" });
    const silent = await Promise.all(Array.from({ length: 20 }, () => socketTo(running)));
    await Promise.all(silent.map((socket) => once(socket.resume(), "close")));
    expect((await running.call("GET", "/livez")).status).toBe(200);
  });

  test("beyond their number are closed, and those that are there go on", async () => {
    const running = await started({ MAX_CONNECTIONS: "3" });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request(`${running.url}/livez`, { agent }, (answer) => {
          answer.resume().on("end", () => resolve(answer.statusCode));
        })
          .on("error", reject)
          .end();
      });
    expect(await ask()).toBe(200);
    await Promise.all([socketTo(running), socketTo(running)]);
    const beyond = await socketTo(running);
    await once(beyond.resume(), "close");
    expect(await ask()).toBe(200);
    agent.destroy();
  });

  test("are closed by every answer while the service settles, also by those under way", async () => {
    const running = await started({ SETTLE_SECONDS: "1" });
    const underWay = running.call("GET", "/wait?millis=300");
    await expect.poll(() => slow.running).toBe(1);
    const stopping = running.stop();
    const later = await running.call("GET", "/wait?millis=0");
    expect([later.status, later.headers.get("connection")]).toEqual([200, "close"]);
    const answered = await underWay;
    expect([answered.status, answered.headers.get("connection")]).toEqual([200, "close"]);
    await stopping;
    service = undefined;
  });

  test("that are kept alive are answered also behind the closing of the listener", async () => {
    const running = await started({ SETTLE_SECONDS: "0", DRAIN_SECONDS: "3" });
    const socket = await socketTo(running);
    const text = textOf(socket);
    socket.write(get("/wait?millis=0&name=1"));
    await expect.poll(text).toContain('"name":1');
    const holding = running.call("GET", "/wait?millis=500");
    await expect.poll(() => slow.running).toBe(1);
    const stopping = running.stop();
    await sleep(50);
    socket.write(get("/wait?millis=0&name=2"));
    await expect.poll(text).toContain('"name":2');
    expect(text().split('"name":1')[1]).toContain("Connection: close");
    expect((await holding).status).toBe(200);
    await stopping;
    service = undefined;
  });
});
