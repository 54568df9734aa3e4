import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { pacedServer, type Pace, type PacedWebSocket } from "./paced-websocket.js";

let servers: Server[] = [];
let clients: WebSocket[] = [];
afterEach(() => {
  for (const client of clients) client.terminate();
  for (const server of servers) server.close();
  servers = [];
  clients = [];
});

/** Both ends of a WebSocket at a pace, and what the service's end was handed. */
async function pair(pace: Partial<Pace> = {}) {
  const heard: string[] = [];
  let paused = 0;
  const sockets = pacedServer(
    { noServer: true },
    {
      framesPerSecond: 100,
      framesBurst: 10,
      signOfLife: ["message", Buffer.from("alive"), false],
      onPaused: () => (paused += 1),
      ...pace,
    },
  );
  const server = createServer();
  servers.push(server);
  const connected = new Promise<PacedWebSocket>((resolve) => {
    server.on("upgrade", (req, socket, head) => {
      sockets.handleUpgrade(req, socket, head, (webSocket) => {
        webSocket.on("message", (data) => heard.push(String(data)));
        resolve(webSocket);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  clients.push(client);
  await new Promise((resolve) => client.once("open", resolve));
  const send = (count: number): void => {
    for (let index = 0; index < count; index += 1) client.send(String(index));
  };
  return { client, webSocket: await connected, heard, send, paused: () => paused };
}

const numbers = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => String(index));

test("what a burst has beyond the pace waits, and comes in its order", async () => {
  const { heard, send, paused } = await pair();
  send(50);
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  expect(heard.length).toBeLessThan(50);
  await expect.poll(() => heard.filter((one) => one !== "alive")).toEqual(numbers(50));
  expect(paused()).toBeGreaterThan(0);
});

test("frames that wait are a sign that their client lives", async () => {
  const { heard, send } = await pair({ framesPerSecond: 1 });
  send(20);
  await expect.poll(() => heard).toContain("alive");
  expect(heard.length).toBeLessThan(20);
});

test("what waits is given up when the service closes, and the answer to the close is read", async () => {
  const { client, webSocket, heard, send } = await pair({ framesPerSecond: 1, framesBurst: 20 });
  send(30);
  await expect.poll(() => heard).toContain("alive");
  // Behind what is read already.
  send(5);
  const codes = [client, webSocket].map(
    (end) => new Promise((resolve) => end.once("close", resolve)),
  );
  webSocket.close(1001);
  expect(await Promise.all(codes)).toEqual([1001, 1001]);
  expect(heard.length).toBeLessThan(30);
});

test("who goes on and on behind a close is cut off", async () => {
  const { client, webSocket, send } = await pair();
  client.pause();
  webSocket.close(1001);
  const closed = new Promise((resolve) => webSocket.once("close", resolve));
  send(50);
  expect(await closed).toBe(1006);
});

test("nothing is handed on while it is held", async () => {
  const { webSocket, heard, send } = await pair();
  let release = (): void => undefined;
  webSocket.hold(new Promise<void>((resolve) => (release = resolve)));
  send(5);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heard).toEqual([]);
  release();
  await expect.poll(() => heard).toEqual(numbers(5));
});

test("of many pings the last is answered", async () => {
  const { client } = await pair({ framesPerSecond: 1_000, framesBurst: 100 });
  const pongs: string[] = [];
  client.on("pong", (data) => pongs.push(String(data)));
  for (const data of numbers(500)) client.ping(data);
  await expect.poll(() => pongs.at(-1)).toBe("499");
  expect(pongs.length).toBeLessThan(400);
});
