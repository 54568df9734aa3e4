// The fault matrix, a PostgreSQL server that crashes, refuses writes, or fails over (attack 84).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasPostgresBinaries, startCluster, type PostgresCluster } from "./postgres-cluster.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

describe.skipIf(!hasPostgresBinaries)("a PostgreSQL server that fails", () => {
  let cluster: PostgresCluster;
  let subject: Subject;
  let load: TaskLoad;
  beforeAll(async () => {
    cluster = await startCluster();
    subject = await startSubject({ DATABASE_URL: cluster.url });
    load = startTaskLoad(subject.client);
  });
  afterAll(async () => {
    await load.stop();
    await subject.dispose();
    await cluster.remove();
  });

  test("a server that crashes and starts again", () =>
    survive(subject, load, {
      missing: ["database"],
      begin: () => cluster.crash(),
      end: () => cluster.start(),
    }));

  test("a server that refuses writes", async () => {
    const readOnly = async (value: "on" | "off"): Promise<void> => {
      await cluster.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await cluster.sql("SELECT pg_reload_conf()");
    };
    await survive(subject, load, {
      missing: ["database"],
      begin: () => readOnly("on"),
      end: () => readOnly("off"),
    });
  });

  test("a server that fails over: it is gone, back as a standby, and promoted", () =>
    survive(subject, load, {
      missing: ["database"],
      begin: async () => {
        await cluster.crash();
        cluster.becomeStandby();
        await cluster.start();
      },
      end: () => cluster.promote(),
    }));

  test("a commit whose wait for a standby is cancelled is not acknowledged", async () => {
    const standbys = async (names: string): Promise<void> => {
      await cluster.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await cluster.sql("SELECT pg_reload_conf()");
    };
    const body = { title: "Lonely", project: randomUUID() };
    const write = () =>
      subject.client.call("POST", "/tasks", {
        body,
        headers: { "idempotency-key": "lonely" },
      });
    await load.stop();
    await standbys("nobody");
    const lonely = write();
    const cancelled = async (): Promise<number> => {
      const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
      return (await cluster.sql(`SELECT pg_cancel_backend(pid) ${waiting}`)).length;
    };
    await expect.poll(cancelled).toBeGreaterThan(0);
    const { status, body: answer } = await lonely;
    await standbys("");
    expect([status, answer.code]).toEqual([503, "core.unavailable"]);
    // Nobody knew; it stayed, once.
    expect((await write()).status).toBe(201);
    const filters = { $values: { project: body.project } };
    const { hits } = (await subject.client.call("POST", "/tasks/query", { body: { filters } }))
      .body;
    expect(hits).toHaveLength(1);
  });

  test("reads go on while writes are refused", async () => {
    const [made] = load.outcomes.filter(({ status }) => status === 201);
    await cluster.crash();
    cluster.becomeStandby();
    await cluster.start();
    try {
      await expect
        .poll(async () => {
          const { status } = await subject.client.call("GET", `/tasks/${made?.body.id}`);
          return status;
        })
        .toBe(200);
    } finally {
      await cluster.promote();
    }
    await subject.expectMissing();
  });

  test("every acknowledged write is there, once", async () => {
    await load.stop();
    await load.expectAllWrites(subject.client);
    expect(await subject.stop()).toBeLessThan(9_000);
  });
});
