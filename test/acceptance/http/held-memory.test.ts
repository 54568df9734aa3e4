// What a request holds goes with its answer: nothing of it waits for its deadline, and nothing keeps it for good.
import { request } from "node:http";
import { queryObjects } from "node:v8";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Lifetime } from "../../../runtime/ports/lifetime.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const rounds = 60;

/** Lifetimes that are still held, after a collection of garbage. */
function held(): number {
  return queryObjects(Lifetime, { format: "count" });
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let task: string;
    const logged: unknown[] = [];
    beforeAll(async () => {
      const note = (entry: unknown): void => void logged.push(entry);
      const log = { debug: () => undefined, info: () => undefined, warn: note, error: note };
      service = await startTestService(engine, { log });
      const project = service.tester.id;
      const { body } = await service.post("/tasks", { title: "held", project });
      task = body.id;
    }, 60_000);
    afterAll(() => service.stop());

    const form = (): FormData => {
      const made = new FormData();
      made.append("file", new Blob([Buffer.alloc(20_000, 1)]), "a.bin");
      return made;
    };
    /** A list whose caller does not wait for the answer. */
    const left = (): Promise<void> =>
      new Promise((resolve) => {
        const asking = request(`${service.url}/tasks/query`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${service.tester.token}`,
            "content-type": "application/json",
          },
        });
        asking.on("error", () => undefined);
        asking.on("close", resolve);
        asking.end('{"size":100}', () => setImmediate(() => asking.destroy()));
      });

    test.each<[string, () => Promise<unknown>]>([
      ["a read", () => service.call("GET", `/tasks/${task}`)],
      ["a list", () => service.post("/tasks/query", { size: 20 })],
      ["an upload", () => service.call("POST", "/files", { body: form() })],
      ["a file that is not there", () => service.call("DELETE", "/files/nothing")],
      ["a refused body", () => service.post("/tasks", { title: 5 })],
      ["a caller who leaves", left],
    ])("%s", async (_what, once) => {
      for (let round = 0; round < 5; round += 1) await once();
      const before = held();
      for (let round = 0; round < rounds; round += 1) await once();
      await expect.poll(() => held() - before, { timeout: 5_000, interval: 200 }).toBeLessThan(10);
    });

    test("a caller who leaves is logged as no failure", () => {
      expect(logged).toEqual([]);
    });
  });
}
