// The fault matrix, the process itself: SIGKILL, SIGTERM under load, descriptors that run out; on both engines (attacks 83, 84).
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../support/engines.js";
import { faultsOf } from "./answers.js";
import { limitDescriptors } from "./limits.js";
import { uploadBytes } from "./object-load.js";
import { startSubject, type Subject } from "./subject.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`a process on ${engine.name}`, () => {
    let database: FreshDatabase;
    let subject: Subject;
    let load: TaskLoad;
    beforeAll(async () => {
      database = await engine.create();
      subject = await startSubject({ DATABASE_URL: database.url, SETTLE_SECONDS: "0.5" });
      load = startTaskLoad(subject.client, { pauseMillis: 20 });
    });
    afterAll(async () => {
      await load.stop();
      await subject.dispose();
      await database.drop();
    });

    test("SIGKILL under load, and a start on the same data", async () => {
      for (let round = 0; round < 2; round += 1) {
        await load.successes(40);
        subject.process.child.kill("SIGKILL");
        subject = await subject.restarted();
        load.use(subject.client);
        await subject.expectMissing();
        await load.successes(20);
      }
    });

    test("SIGTERM under load: every answer of the end closes its connection, and none that was accepted is reset", async () => {
      await load.successes(20);
      load.takeOutcomes();
      const took = await subject.stop();
      subject = await subject.restarted();
      load.use(subject.client);
      await load.successes(20);
      expect(took).toBeLessThan(8_000);
      const outcomes = load.takeOutcomes();
      // Between the two processes nobody listens: a refused connection has lost nothing.
      const reached = outcomes.filter(({ fault }) => fault !== "ECONNREFUSED");
      // Nor is one that is made in the very instant in which the listener closes ever accepted.
      const resets = reached.filter(({ fault }) => fault === "ECONNRESET");
      expect(resets.length).toBeLessThanOrEqual(1);
      expect(faultsOf(reached.filter((outcome) => !resets.includes(outcome)))).toEqual([]);
    });

    test("while it settles it accepts, is not ready, and ends each connection with its answer", async () => {
      await load.successes(5);
      const stopped = subject.stop();
      await expect
        .poll(async () => (await subject.stranger.call("GET", "/readyz")).status, { interval: 10 })
        .toBe(503);
      const answers = await Promise.all([
        subject.stranger.call("GET", "/livez"),
        subject.stranger.call("GET", "/readyz"),
        subject.stranger.call("POST", "/places/list", { body: {} }),
        subject.client.call("POST", "/tasks/query", { body: {} }),
      ]);
      await stopped;
      subject = await subject.restarted();
      load.use(subject.client);
      await load.successes(5);
      expect(answers.map(({ status, headers }) => [status, headers["connection"]])).toEqual([
        [200, "close"],
        [503, "close"],
        [200, "close"],
        [200, "close"],
      ]);
    });

    test("descriptors that run out: callers who are connected are served, and it recovers", async () => {
      await load.successes(5);
      const uploaded = await uploadBytes(subject.client, Buffer.from("content"));
      expect(uploaded.status).toBe(201);
      load.takeOutcomes();
      const restore = limitDescriptors(subject.process.child, 8);
      const silent: Socket[] = [];
      try {
        for (let index = 0; index < 60; index += 1) {
          const socket = connect(Number(new URL(subject.url).port), "127.0.0.3");
          socket.on("error", () => undefined);
          silent.push(socket);
        }
        await sleep(1_000);
        const uploads = await Promise.all(
          [1, 2, 3].map(() => uploadBytes(subject.client, Buffer.from("content"))),
        );
        expect(faultsOf(uploads)).toEqual([]);
        await load.successes(20);
      } finally {
        for (const socket of silent) socket.destroy();
        restore();
      }
      await load.successes(20);
      await subject.expectMissing();
      expect(faultsOf(load.takeOutcomes())).toEqual([]);
      expect((await uploadBytes(subject.client, Buffer.from("content"))).status).toBe(201);
    });

    test("every acknowledged write is there, once", async () => {
      await load.stop();
      await load.expectAllWrites(subject.client);
    });
  });
}
