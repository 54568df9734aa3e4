// Every engine that counts rates passes the contract of the port; memory is bounded, and a fault of the shared counts is passed over.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { openRedisRateLimiter } from "../../runtime/engines/redis/rate-limiter.js";
import { memoryRateLimiter } from "../../runtime/engines/memory/rate-limiter.js";
import {
  databaseRateLimiter,
  expiredRates,
} from "../../runtime/operations/database-rate-limiter.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import { silentLog } from "../../runtime/ports/log.js";
import { rateLimiterWithFallback } from "../../runtime/operations/rate-limiter-fallback.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { prepareRateTables, rateLimiterContract } from "../../runtime/testing/index.js";
import { buses } from "../support/bus-engines.js";
import { engines, type FreshDatabase } from "../support/engines.js";

const redis = process.env["OPWRIGHT_TEST_REDIS"] ?? "";
const api = { describe, test: (name: string, body: () => Promise<void>) => void test(name, body) };

describe("memory", () => {
  const close = async (): Promise<void> => undefined;
  rateLimiterContract(api, {
    open: async () => ({ limiter: memoryRateLimiter(), close }),
    isShared: false,
  });

  test("keys without end take memory with an end", async () => {
    const limiter = memoryRateLimiter();
    const rule = { name: "r", points: 1, windowSeconds: 3_600 };
    await limiter.take(rule, "first");
    for (let key = 0; key < 49_999; key += 1) await limiter.take(rule, `${key}`);
    expect((await limiter.take(rule, "first")).isAllowed).toBe(false);
    for (let key = 0; key < 10; key += 1) await limiter.take(rule, `new ${key}`);
    // The window that began first has made room.
    expect((await limiter.take(rule, "first")).isAllowed).toBe(true);
    expect((await limiter.take(rule, "49998")).isAllowed).toBe(false);
  });
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let fresh: Promise<FreshDatabase> | undefined;
    const open = async () => {
      const isFirst = fresh === undefined;
      const database = await openDatabase((await (fresh ??= engine.create())).url);
      if (isFirst) await prepareRateTables(database);
      return database;
    };
    afterAll(async () => (await fresh)?.drop());
    rateLimiterContract(api, {
      async open() {
        const database = await open();
        return { limiter: databaseRateLimiter(database), close: () => database.close() };
      },
      // Two processes on one SQLite file wait for each other's writes; each counts for itself (server/limiter.ts).
      isShared: engine.name === "postgres",
    });

    test("a flood of one key holds one connection, which is a caller's, and shares its refusals", async () => {
      const database = await open();
      const seen = { running: 0, most: 0, all: 0, ofService: 0 };
      const watched: typeof database = Object.create(database, {
        write: {
          value: async (options: { payer?: unknown }, work: never) => {
            seen.all += 1;
            if ((options.payer ?? null) === null) seen.ofService += 1;
            seen.running += 1;
            seen.most = Math.max(seen.most, seen.running);
            try {
              return await database.write(options as never, work);
            } finally {
              seen.running -= 1;
            }
          },
        },
      });
      const limiter = databaseRateLimiter(watched);
      const rule = { name: "flood", points: 3, windowSeconds: 60 };
      const taken = await Promise.all(
        Array.from({ length: 200 }, () => limiter.take(rule, "flooder")),
      );
      expect(taken.filter(({ isAllowed }) => isAllowed)).toHaveLength(3);
      // As often as one is left, and once more for all who wait.
      expect(seen.all).toBe(4);
      expect([seen.most, seen.ofService]).toEqual([1, 0]);
      await database.close();
    });

    test("counts whose window is over are removed, in batches, and others stay", async () => {
      const database = await open();
      const write = <T>(work: Parameters<typeof database.write<T>>[1]) =>
        database.write({ lifetime: Lifetime.unlimited() }, work);
      await write(async ({ rates }) => {
        for (let key = 0; key < 1_200; key += 1) await rates.take("over", `${key}`, 1, 1);
        await rates.take("lives", "a", 1, 60_000);
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      let batches = 1;
      while (await write((stores) => expiredRates.batch(stores))) batches += 1;
      expect(batches).toBe(2);
      expect(await write(({ rates }) => rates.prune(1_000))).toBe(0);
      expect(await write(({ rates }) => rates.take("lives", "a", 1, 60_000))).not.toBeNull();
      await database.close();
    });
  });
}

describe.skipIf(buses.find(({ name }) => name === "redis")?.isAvailable !== true)("redis", () => {
  const service = `test-${process.pid}`;
  rateLimiterContract(api, {
    async open() {
      const limiter = await openRedisRateLimiter(redis, service, silentLog);
      return { limiter, close: () => limiter.close() };
    },
    isShared: true,
  });
});

describe("a Redis that is away or silent", () => {
  const rule = { name: "r", points: 2, windowSeconds: 60 };

  test.each(["away", "silent"])(
    "%s: this process counts for itself, and says so once",
    async (kind) => {
      const sockets: Socket[] = [];
      const server = createServer((socket) => void sockets.push(socket));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      if (kind === "away") await new Promise((resolve) => server.close(resolve));
      const warnings: unknown[] = [];
      const log = { ...silentLog, warn: (...entries: unknown[]) => void warnings.push(entries) };
      const shared = await openRedisRateLimiter(`redis://127.0.0.1:${port}`, "test", log);
      const limiter = rateLimiterWithFallback(shared, memoryRateLimiter(), log);
      const taken = [];
      for (let count = 0; count < 4; count += 1)
        taken.push((await limiter.take(rule, "a")).isAllowed);
      expect(taken).toEqual([true, true, false, false]);
      expect(warnings).toHaveLength(1);
      await shared.close();
      for (const socket of sockets) socket.destroy();
      if (kind === "silent") await new Promise((resolve) => server.close(resolve));
    },
  );

  test.skipIf(redis === "")(
    "a Redis that goes silent is not waited for again and again",
    async () => {
      const { hostname, port: redisPort } = new URL(redis);
      let isSilent = false;
      const sockets: Socket[] = [];
      const proxy = createServer((near) => {
        const far = connect(Number(redisPort), hostname);
        sockets.push(near, far);
        for (const [from, to] of [
          [near, far],
          [far, near],
        ] as const)
          from.on("data", (bytes) => isSilent || to.write(bytes)).on("error", () => undefined);
      });
      await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
      const { port } = proxy.address() as AddressInfo;
      const unique = { ...rule, name: `silent ${process.pid}` };
      const shared = await openRedisRateLimiter(`redis://127.0.0.1:${port}`, "test", silentLog);
      const limiter = rateLimiterWithFallback(shared, memoryRateLimiter(), silentLog);
      expect((await limiter.take(unique, "a")).isAllowed).toBe(true);
      isSilent = true;
      const before = performance.now();
      for (let count = 0; count < 1_000; count += 1) await limiter.take(unique, "a");
      // One call in a second finds out, and half a second is what each of them waits.
      expect(performance.now() - before).toBeLessThan(10_000);
      expect((await limiter.take(unique, "a")).isAllowed).toBe(false);
      await shared.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  );

  test("once the shared counts are back they count again, and the log says so", async () => {
    let isBack = false;
    const told: unknown[] = [];
    const note = (_fields: unknown, text?: unknown): void => void told.push(text);
    const one = memoryRateLimiter();
    const shared: typeof one = {
      ...one,
      take: (...given) => (isBack ? one.take(...given) : Promise.reject(new Error("away"))),
    };
    const log = { ...silentLog, warn: note, info: note };
    const limiter = rateLimiterWithFallback(shared, memoryRateLimiter(), log);
    await limiter.take(rule, "a");
    await limiter.take(rule, "a");
    expect((await limiter.take(rule, "a")).isAllowed).toBe(false);
    isBack = true;
    await expect.poll(async () => (await limiter.take(rule, "a")).isAllowed).toBe(true);
    expect(told).toEqual([
      expect.stringContaining("each process for itself"),
      expect.stringContaining("together again"),
    ]);
  });
});
