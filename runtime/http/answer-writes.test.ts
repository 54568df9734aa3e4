import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as ambient from "../ports/ambient.js";
import { writeWithOthers } from "./answer-writes.js";

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

/** Moves by hand, so that nothing here depends on how fast the machine is. */
let now = 1_000_000;
beforeEach(() => {
  asked = [];
  now += 100_000;
  vi.spyOn(ambient, "monotonicMillis").mockImplementation(() => now);
});
afterEach(() => void vi.restoreAllMocks());

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

/** Answers one after the other, so many milliseconds apart; returns how many wait after each. */
async function answerAfter(...millis: readonly number[]): Promise<readonly number[]> {
  asked = [];
  await ask(millis.length);
  const waited = asked.map((res, index) => {
    now += millis[index] ?? 0;
    res.end("answer");
    return unwritten();
  });
  await new Promise((resolve) => setImmediate(resolve));
  const bodies = await Promise.all(clients.map(async (client) => (await text(client)).slice(-6)));
  expect(new Set(bodies)).toEqual(new Set(["answer"]));
  return waited;
}

test("what has waited for half a millisecond waits no longer", async () => {
  const waited = await answerAfter(0, 0.2, 0.2, 0.2, 0.1, 0.3);
  expect(waited).toEqual([1, 2, 3, 0, 1, 2]);
});

test("where work between answers takes its time turn by turn, they wait for nobody for a second", async () => {
  expect(await answerAfter(0, 30)).toEqual([1, 0]);
  expect(await answerAfter(0, 30)).toEqual([1, 0]);
  expect(await answerAfter(0, 30)).toEqual([1, 0]);
  expect(await answerAfter(0, 30)).toEqual([0, 0]);
  expect(await answerAfter(900)).toEqual([0]);
  // From then on one such turn is enough.
  expect(await answerAfter(100, 30)).toEqual([1, 0]);
  expect(await answerAfter(0, 30)).toEqual([0, 0]);
});

test("what takes its time now and then changes nothing", async () => {
  for (let turn = 0; turn < 60; turn += 1) await answerAfter(0);
  for (let pause = 0; pause < 4; pause += 1) {
    expect(await answerAfter(0, 5)).toEqual([1, 0]);
    for (let turn = 0; turn < 20; turn += 1) expect(await answerAfter(0)).toEqual([1]);
  }
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
