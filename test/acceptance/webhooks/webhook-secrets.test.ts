// Webhooks whose service gets new secrets, and whose addresses are written in unusual ways; on each engine.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { webhookStore } from "../../../runtime/ports/webhooks.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { peopleOf } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const secret = (): string => randomBytes(32).toString("base64url");

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`secrets of webhooks on ${engine.name}`, () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(request.url ?? "");
      response.writeHead(204).end();
    });
    const folder = mkdtempSync(join(tmpdir(), "opwright-secrets-"));
    let database: Awaited<ReturnType<typeof sharedDatabase>>;
    let url: string;
    beforeAll(async () => {
      database = await sharedDatabase(engine);
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    });
    beforeEach(() => void (received.length = 0));
    afterAll(async () => {
      receiver.close();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    const start = (SECRETS_SIGNING: string): Promise<TestService> =>
      startTestService(database.same, {
        environment: {
          SECRETS_SIGNING,
          DATA_DIR: folder,
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_BACKOFF_SECONDS: "0.05",
          WEBHOOK_MAX_ATTEMPTS: "2",
        },
      });
    /** What a member does with webhooks. */
    const memberOf = async (service: TestService) => {
      const { token } = await peopleOf(service).member("", "webhooks.read", "tasks.read");
      const headers = { authorization: `Bearer ${token}` };
      return (method: string, path: string, body?: unknown) =>
        service.call(method, path, { body, headers });
    };

    test("the former secret may go once those of webhooks are sealed with the new one", async () => {
      const [former, next] = [secret(), secret()];
      let service = await start(former);
      const { token } = await peopleOf(service).member("", "webhooks.read", "tasks.read");
      const headers = { authorization: `Bearer ${token}` };
      const as = (method: string, path: string, body?: unknown) =>
        service.call(method, path, { body, headers });
      const { status, body } = await as("POST", "/webhooks", { url, events: ["tasks.completed"] });
      expect(status).toBe(201);
      const sealed = (): Promise<readonly unknown[]> =>
        service.running.connection.database.reader
          .of(webhookStore)
          .walkSecrets(null, 10)
          .then((found) => found.map((one) => one.secret));
      const before = await sealed();
      await service.stop();
      service = await start(`${next},${former}`);
      // A process looks within five seconds of its start.
      await expect.poll(sealed, { timeout: 30_000 }).not.toEqual(before);
      await service.stop();
      service = await start(next);
      try {
        expect((await as("POST", `/webhooks/${body.id}/test`)).status).toBe(202);
        await vi.waitFor(() => expect(received).toEqual(["/hook"]), 10_000);
      } finally {
        await service.stop();
      }
    });

    test("an address with its scheme in capitals is called", async () => {
      const service = await start(secret());
      try {
        const as = await memberOf(service);
        const loud = url.replace("http:", "HTTP:");
        const made = await as("POST", "/webhooks", { url: loud, events: ["tasks.completed"] });
        expect((await as("POST", `/webhooks/${made.body.id}/test`)).status).toBe(202);
        await vi.waitFor(() => expect(received).toEqual(["/hook"]), 10_000);
      } finally {
        await service.stop();
      }
    });
  });
