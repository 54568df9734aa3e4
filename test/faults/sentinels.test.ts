// Redis with Sentinels as the bus: the master dies, freezes, gives way and comes back as a replica; signals and counts go on
// with the one that was elected, and what was lost meanwhile is announced.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRedisRateLimiter } from "../../runtime/engines/redis/rate-limiter.js";
import { silentLog } from "../../runtime/ports/log.js";
import type { FreshDatabase } from "../support/engines.js";
import { runCommand } from "../support/process.js";
import type { Client } from "../support/realtime-clients.js";
import {
  hasOpenssl,
  hasRedisServer,
  startEncryptedSentinel,
  startSentinels,
  type RedisServer,
  type SentinelSet,
} from "../support/sentinels.js";
import {
  earsOf,
  expectAnnounced,
  expectHeard,
  postgres,
  startPair,
  type Pair,
} from "./bus-pair.js";

describe.skipIf(!hasRedisServer || postgres?.isAvailable !== true)("Redis with Sentinels", () => {
  let set: SentinelSet;
  let database: FreshDatabase;
  let pair: Pair;
  let ears: readonly Client[] = [];
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    set = await startSentinels();
    database = await postgres.create();
    pair = await startPair(database, [set.url, set.url]);
    ears = await earsOf(pair);
  });
  afterAll(async () => {
    for (const client of ears) client.close();
    await pair?.stop();
    await database?.drop();
    await set?.stop();
  });

  /** A fault of the master that ends with the election of another. */
  const losingMaster = async (fault: {
    readonly begin: (master: RedisServer) => unknown;
    readonly end?: (former: RedisServer) => unknown;
  }): Promise<void> => {
    const master = await set.master();
    await expectAnnounced(pair, ears, {
      begin: () => fault.begin(master),
      end: () => set.electOther(master),
    });
    await fault.end?.(master);
    await set.ready();
  };

  test("a master that freezes, and wakes up when another has been elected", () =>
    losingMaster({ begin: (master) => master.freeze(), end: (former) => former.thaw() }));

  test("a master that dies while a Sentinel stands still, and comes back as a replica", async () => {
    const still = set.sentinels.at(-1);
    still?.freeze();
    await losingMaster({
      begin: (master) => master.kill(),
      end: (former) => (former.start(), still?.thaw()),
    });
  });

  test("a master that gives way, and goes on as a replica", async () => {
    await expectHeard(pair, ears);
    await set.switchOver();
    await expectHeard(pair, ears);
    await set.ready();
  });

  test("rates are counted on, by all, at the new master", async () => {
    const open = () => openRedisRateLimiter(set.url, "counted", silentLog);
    const [here, there] = [await open(), await open()];
    const rule = { name: "r", points: 1, windowSeconds: 3_600 };
    const taken = async (key: string): Promise<readonly boolean[]> => {
      const answers = [];
      for (const limiter of [here, there]) answers.push((await limiter.take(rule, key)).isAllowed);
      return answers;
    };
    try {
      expect(await taken("before")).toEqual([true, false]);
      await set.switchOver();
      let tries = 0;
      const after = (): Promise<unknown> => taken(`after ${(tries += 1)}`).catch(String);
      await expect.poll(after, { timeout: 30_000 }).toEqual([true, false]);
      const { servers } = set;
      const roles = await Promise.all(servers.map((server) => set.ask(server, "ROLE")));
      const master =
        servers[roles.findIndex((role) => Array.isArray(role) && role[0] === "master")];
      if (master === undefined) throw new Error("there is no master");
      // In the database that the URL names.
      const keys = await set.ask(master, "INFO", "keyspace");
      expect(String(keys)).toMatch(/db2:keys=\d/);
      expect(String(keys)).not.toContain("db0:");
    } finally {
      await here.close();
      await there.close();
    }
  });

  test("the latest election counts, whichever Sentinel is named first", async () => {
    const former = await set.master();
    await set.switchOver();
    // It was cut off from the others before they elected: it knows of no election.
    const told = ["ip", "127.0.0.1", "port", String(former.port), "config-epoch", "0"];
    const cutOff = await startResponder(told);
    const url = set.url.replace(/@[^,]+,/, `@127.0.0.1:${cutOff.port},`);
    const limiter = await openRedisRateLimiter(url, "latest", silentLog);
    try {
      const rule = { name: "r", points: 1_000, windowSeconds: 3_600 };
      // On a busy machine a question to the Sentinels may take longer than the limiter waits.
      const take = () => limiter.take(rule, "once").catch(() => ({ isAllowed: false }));
      await expect.poll(take, { timeout: 60_000 }).toMatchObject({ isAllowed: true });
      const keys = await set.ask(await set.master(), "INFO", "keyspace");
      expect(String(keys)).toMatch(/db2:keys=\d/);
      expect(cutOff.asked()).toBeGreaterThan(0);
    } finally {
      await limiter.close();
      cutOff.close();
    }
  });
});

test("a Sentinel that names a host which can't be read shows no password", async () => {
  const odd = await startResponder(["ip", "fe80::1%eth0", "port", "6379", "config-epoch", "0"]);
  const told: string[] = [];
  const debug = (...entries: unknown[]): void => void told.push(inspect(entries, { depth: 9 }));
  const url = `redis+sentinel://u:topsecret@127.0.0.1:${odd.port}/mm?sentinel_password=hidden`;
  const limiter = await openRedisRateLimiter(url, "odd", { ...silentLog, debug });
  await limiter.close();
  odd.close();
  expect(told.join("\n")).toMatch(/the Sentinels name a host that can't be read/);
  expect(told.join("\n")).not.toMatch(/topsecret|hidden/);
});

test.skipIf(!hasRedisServer || !hasOpenssl)(
  "encrypted, by the hosts that certificates name",
  async () => {
    const { url: BUS_URL, authority, stop } = await startEncryptedSentinel();
    const data = mkdtempSync(join(tmpdir(), "opwright-encrypted-"));
    mkdirSync(join(data, "objects/objects"), { recursive: true });
    const lines = async (environment: Readonly<Record<string, string>>): Promise<string> =>
      (await runCommand({ DATA_DIR: data, BUS_URL, ...environment }, ["doctor"])).stdout;
    try {
      expect((await runCommand({ DATA_DIR: data }, ["migrate"])).status).toBe(0);
      const trusted = { NODE_EXTRA_CA_CERTS: authority };
      await expect
        .poll(() => lines(trusted), { timeout: 60_000 })
        .toMatch(/^ok +bus +answers$(?![^]*\bbus\b)/m);
      expect(await lines({})).toMatch(/^wrong +bus +BUS_URL: .*self-signed certificate/m);
    } finally {
      await stop();
      rmSync(data, { recursive: true, force: true });
    }
  },
);

test("a Sentinel that takes connections and says nothing keeps no process alive", async () => {
  const silent = createServer((socket) => void socket.on("error", () => undefined));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const data = mkdtempSync(join(tmpdir(), "opwright-silent-"));
  const { port } = silent.address() as AddressInfo;
  const BUS_URL = `redis+sentinel://127.0.0.1:${port}/mm`;
  try {
    const { status, stderr } = await runCommand({ DATA_DIR: data, BUS_URL }, ["jobs"]);
    expect([status, stderr]).toEqual([0, ""]);
  } finally {
    silent.close();
    rmSync(data, { recursive: true, force: true });
  }
});

/** A server that takes every login, answers SENTINEL with these texts, and other commands with an error. */
async function startResponder(texts: readonly string[]) {
  let asked = 0;
  const array = `*${texts.length}\r\n${texts.map((text) => `$${text.length}\r\n${text}\r\n`).join("")}`;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      // Commands are arrays; several may come in one piece.
      for (const [command] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const isOurs = command.endsWith("SENTINEL");
        asked += isOurs ? 1 : 0;
        socket.write(isOurs ? array : command.endsWith("AUTH") ? "+OK\r\n" : "-ERR unknown\r\n");
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, asked: () => asked, close: () => void server.close() };
}
