// The fault matrix, PostgreSQL over a network that fails: reset, refused, silent, half-open, slow, terminated (attacks 76, 84).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "pg";
import { startProcess } from "../support/process.js";
import { engines, type FreshDatabase } from "../support/engines.js";
import { startProxy, type Proxy } from "./proxy.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

const postgres = engines.find(({ name }) => name === "postgres");

describe.skipIf(postgres?.isAvailable !== true)("PostgreSQL behind a network that fails", () => {
  let database: FreshDatabase;
  let proxy: Proxy;
  let subject: Subject;
  let load: TaskLoad;
  let admin: Client;
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    database = await postgres.create();
    const { hostname, port } = new URL(database.url);
    proxy = await startProxy(hostname, Number(port || 5432));
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    subject = await startSubject(
      { DATABASE_URL: proxy.url(database.url) },
      { DATABASE_URL: database.url },
    );
    load = startTaskLoad(subject.client);
  });
  afterAll(async () => {
    await load.stop();
    await subject.dispose();
    await proxy.close();
    await admin.end();
    await database.drop();
  });

  const pass = (): Promise<void> => proxy.become({ kind: "pass" });

  test("connections that are reset", () => survive(subject, load, { begin: () => proxy.cut() }));

  test("a server that refuses, and then is there again", () =>
    survive(subject, load, {
      missing: ["database"],
      begin: async () => {
        await proxy.become({ kind: "refuse" });
        proxy.cut();
      },
      end: pass,
    }));

  test("connections that go silent, old ones and new ones", () =>
    survive(subject, load, {
      missing: ["database"],
      begin: () => proxy.become({ kind: "silent" }),
      end: pass,
    }));

  test.each(["up", "down"] as const)("connections of which the way %s is dead", (dead) =>
    survive(subject, load, {
      missing: ["database"],
      begin: () => proxy.become({ kind: "half-open", dead }),
      end: pass,
    }),
  );

  test("a database that is far away", () =>
    survive(subject, load, {
      begin: () => proxy.become({ kind: "pass", latencyMillis: 150 }),
      end: pass,
    }));

  test("a database that answers a few bytes a second", () =>
    survive(subject, load, {
      begin: () => proxy.become({ kind: "pass", bytesPerSecond: 300 }),
      end: pass,
    }));

  test("backends that are terminated, also within transactions", () =>
    survive(subject, load, {
      begin: async () => {
        for (let round = 0; round < 100; round += 1)
          await admin.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND ($1 OR (xact_start IS NOT NULL AND state = 'idle in transaction'))`,
            [round % 20 === 0],
          );
      },
    }));

  test("a request that signs in meets its deadline too", async () => {
    await proxy.become({ kind: "silent" });
    try {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          subject.client.call("GET", "/tasks/01890000-0000-7000-8000-000000000001", {
            headers: { "x-deadline-budget": "1" },
          }),
        ),
      );
      const inTime = answers.map(
        ({ status, millis, fault }) =>
          ([503, 504].includes(status) && millis < 4_000) || `${status} ${fault} ${millis}`,
      );
      expect(inTime).toEqual(answers.map(() => true));
    } finally {
      await pass();
    }
    await subject.expectMissing();
  });

  test("a process that starts while the database is away waits for it, and says so", async () => {
    await proxy.become({ kind: "refuse" });
    const starting = startProcess(subject.environment);
    const early = await Promise.race([
      starting.then(
        () => "ready",
        (error: unknown) => String(error),
      ),
      new Promise((resolve) => setTimeout(resolve, 6_000, "waits")),
    ]);
    await pass();
    expect(early).toBe("waits");
    const process = await starting;
    expect(process.output()).toMatch(/wait.*database|database.*wait/i);
    process.child.kill("SIGTERM");
    expect(await process.exited).toBe(0);
  });

  test("every acknowledged write is there, once", async () => {
    await load.stop();
    await load.expectAllWrites(subject.client);
  });

  test("a stop while the database is silent comes to its end", async () => {
    await proxy.become({ kind: "silent" });
    // Requests that have reached the database and wait.
    const waiting = Array.from({ length: 8 }, () =>
      subject.client.call("POST", "/tasks/query", { body: {}, patienceMillis: 15_000 }),
    );
    expect(await subject.stop()).toBeLessThan(9_000);
    await Promise.all(waiting);
  });
});
