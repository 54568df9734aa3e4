import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { mostTogether, writeWithOthers } from "./answer-writes.js";

/** Answers that nobody has given yet, and the sockets of their clients. */
let asked: ServerResponse[] = [];
let clients: Socket[] = [];
const server = createServer((_req, res) => asked.push(res));
server.on("connection", writeWithOthers);
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => server.close());

/** Connections that each wait for an answer. */
async function ask(count: number): Promise<void> {
  const { port } = server.address() as AddressInfo;
  clients = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  for (const client of clients)
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await expect.poll(() => asked.length).toBe(count);
}

beforeEach(() => {
  asked = [];
});

const unwritten = (): number =>
  asked.filter(({ socket }) => socket !== null && socket.writableLength > 0).length;

test("answers of one turn wait for its end, and arrive whole", async () => {
  await ask(3);
  for (const [index, res] of asked.entries()) res.end(`answer ${index}`);
  expect(unwritten()).toBe(3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unwritten()).toBe(0);
  const bodies = await Promise.all(clients.map(async (client) => (await text(client)).slice(-8)));
  expect(bodies.toSorted()).toEqual(["answer 0", "answer 1", "answer 2"]);
});

test("no more than sixteen wait for each other", async () => {
  await ask(mostTogether + 1);
  const waited = asked.map((res) => {
    res.end("answer");
    return unwritten();
  });
  expect(waited).toEqual([...Array.from({ length: mostTogether - 1 }, (_, at) => at + 1), 0, 1]);
  const bodies = await Promise.all(clients.map(async (client) => (await text(client)).slice(-6)));
  expect(new Set(bodies)).toEqual(new Set(["answer"]));
});

test("a connection that ends meanwhile takes no other answer with it", async () => {
  await ask(3);
  const [first, second] = asked;
  for (const res of asked) res.end("answer");
  first?.socket?.destroy();
  second?.socket?.resetAndDestroy();
  const heard = await Promise.all(clients.map((client) => text(client).catch(() => "reset")));
  expect(heard.filter((whole) => whole.endsWith("answer"))).toHaveLength(1);
});

test("a listener that throws when its answer is written takes no other answer with it", async () => {
  const usual = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  const thrown: unknown[] = [];
  process.on("uncaughtException", (error) => thrown.push(error));
  try {
    await ask(3);
    const fault = new Error("of a listener");
    asked[0]?.on("finish", () => {
      throw fault;
    });
    for (const res of asked) res.end("answer");
    await expect.poll(() => thrown).toEqual([fault]);
    const others = asked.slice(1).map(({ writableFinished }) => writableFinished);
    expect(others).toEqual([true, true]);
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of usual) process.on("uncaughtException", listener);
    for (const client of clients) client.destroy();
  }
});
