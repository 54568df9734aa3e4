// An outage: each request is answered 503 and has its own line at level info; why it is so is told once a second.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { hasPgBouncer, pooledEnvironment, startPgBouncer } from "../../support/pgbouncer.js";
import { recordingLog } from "../../support/recording-log.js";
import { startTestService } from "../../support/service.js";

const postgres = engines.find(({ name }) => name === "postgres");
const server = process.env["OPWRIGHT_TEST_POSTGRES"] ?? "";

describe.skipIf(postgres?.isAvailable !== true || !hasPgBouncer)("the log of an outage", () => {
  test("has a line for the first fault, then one a second with their count", async () => {
    if (postgres === undefined) return;
    const database = await postgres.create();
    const pooler = await startPgBouncer(server);
    const log = recordingLog();
    const service = await startTestService(
      { ...postgres, create: async () => database },
      { log, environment: pooledEnvironment(pooler.url(database.url), database.url) },
    );
    const failed = () => log.lines.filter(({ message }) => message === "an operation failed");
    await pooler.kill();
    const asked = 200;
    const begun = Date.now();
    for (let at = 0; at < asked; at += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          service.call("GET", "/tasks/00000000-0000-7000-8000-000000000000"),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      await sleep(100);
    }
    const seconds = (Date.now() - begun) / 1_000;
    const told = () => failed().reduce((sum, { fields }) => sum + Number(fields["count"] ?? 1), 0);
    await expect.poll(told).toBe(asked);
    const lines = failed();
    // Two causes: who was connected, and who connects anew.
    const causes = new Set(lines.map(({ fields, error }) => error || fields["err"])).size;
    expect(lines.length).toBeLessThanOrEqual(causes * (seconds + 2));
    expect(lines.length).toBeLessThan(asked / 4);
    expect(lines[0]?.fields["err"]).toBeInstanceOf(Error);
    const counted = lines.filter(({ fields }) => fields["count"] !== undefined);
    expect(counted.length).toBeGreaterThan(0);
    expect(counted.at(-1)?.fields).toMatchObject({
      operation: "tasks.get",
      requestId: expect.any(String),
      err: expect.stringMatching(/^core\.unavailable: .*ECONNREFUSED/),
    });
    await pooler.start();
    await service.stop();
    await pooler.stop();
  });
});
