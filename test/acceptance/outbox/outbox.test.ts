// The outbox and its relay against a real webhook: signatures, retries, dead letters, redrive, several relays.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { defineService, json, outbox, route, type Validator } from "../../../runtime/index.js";
import { fail } from "../../../runtime/contract/errors.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { runCommand } from "../../support/process.js";
import { startTestService, type TestService } from "../../support/service.js";
import { stage } from "../../../runtime/families/outbox/stage.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";

const secrets = [randomBytes(32), randomBytes(32)];
const signing = randomBytes(32);
const anything: Validator<{ readonly n: number; readonly fails?: boolean }> = () => null;

/** A service of one operation, which stages an event and may fail afterwards. */
const definition = defineService({
  name: "tracker",
  title: "t",
  version: "1.0.0",
  outbox: outbox({
    events: {
      "orders.placed": "shop",
      "orders.lost": "shop",
      // Neither has a text.
      "orders.bare": () => Promise.reject(Object.create(null)),
      "orders.numbered": () => Promise.reject(Object.assign(new Error(), { message: 7 })),
    },
  }),
  routes: [
    route({
      operationId: "orders.place",
      method: "POST",
      path: "/orders",
      status: 204,
      input: json(anything),
      transaction: "write",
      run: async ({ n, fails }, context) => {
        await stage(context, "orders.placed", { n });
        if (fails === true) throw fail("core.domain");
      },
    }),
  ],
});

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly n: number;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let receiver: Server;
    let url = "";
    const running: TestService[] = [];
    const deliveries: Delivery[] = [];
    /** What the receiver answers to an attempt. */
    let answer = (_delivery: Delivery): number => 204;

    beforeAll(async () => {
      receiver = createServer((req, res) => {
        void text(req).then((body) => {
          const { data } = JSON.parse(body) as { readonly data: { readonly n: number } };
          const delivery = { headers: req.headers, body, n: data.n };
          deliveries.push(delivery);
          const status = answer(delivery);
          res.writeHead(status, status === 302 ? { location: `${url}/elsewhere` } : {}).end();
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    });
    afterAll(() => void receiver.close());
    beforeEach(async () => {
      database = await engine.create();
      deliveries.length = 0;
      answer = () => 204;
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((service) => service.stop()));
      await database.drop();
    });

    const environment = () => ({
      ...database.environment,
      DESTINATION_SHOP: url,
      DESTINATION_NOTIFICATIONS: url,
      SECRETS_WEBHOOK: secrets.map((secret) => secret.toString("base64url")).join(","),
      // Payloads rest sealed with it: every process of a service has the same.
      SECRETS_SIGNING: signing.toString("base64url"),
      OUTBOX_BACKOFF_SECONDS: "0.01",
      OUTBOX_MAX_ATTEMPTS: "3",
    });
    const startOne = async (): Promise<TestService> => {
      const service = await startTestService(engine, { definition, environment: environment() });
      running.push(service);
      return service;
    };
    const stateOf = (service: TestService) =>
      service.running.connection.database.reader.of(outboxStore).state(Date.now());

    test("an event is delivered once it is committed, with a signature of each secret, and leaves nothing", async () => {
      const service = await startOne();
      expect((await service.post("/orders", { n: 1 })).status).toBe(204);
      await expect.poll(() => deliveries.length).toBe(1);
      const { headers = {}, body = "" } = deliveries[0] ?? {};
      expect(JSON.parse(body)).toEqual({
        type: "orders.placed",
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        tenant_id: "default",
        data: { n: 1 },
      });
      for (const secret of secrets) {
        const signed = Object.fromEntries(
          ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [
            name,
            String((headers as IncomingHttpHeaders)[name]),
          ]),
        );
        const webhook = new Webhook(secret.toString("base64"));
        expect(webhook.verify(body, signed)).toEqual(JSON.parse(body));
        expect(() => webhook.verify(`${body} `, signed)).toThrow();
      }
      await expect.poll(() => stateOf(service)).toEqual({ pending: 0, dead: 0, lagMillis: 0 });
    });

    test("events of a transaction that does not commit are not delivered", async () => {
      const service = await startOne();
      expect((await service.post("/orders", { n: 1, fails: true })).status).toBe(400);
      expect((await service.post("/orders", { n: 2 })).status).toBe(204);
      await expect.poll(() => deliveries.map(({ n }) => n)).toEqual([2]);
    });

    test.each([500, 404, 302])(
      "an answer of %i is tried again, under the same id",
      async (status) => {
        answer = () => (deliveries.length === 1 ? status : 204);
        const service = await startOne();
        await service.post("/orders", { n: 1 });
        await expect.poll(() => deliveries.length, { timeout: 5_000 }).toBe(2);
        expect(new Set(deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
        await expect.poll(() => stateOf(service)).toEqual({ pending: 0, dead: 0, lagMillis: 0 });
      },
    );

    test.each(["orders.bare", "orders.numbered"])(
      "%s, whose destination fails without a text: a dead letter after its attempts, at once",
      async (name) => {
        const service = await startOne();
        await service.running.connection.write("test.stage", (context) => stage(context, name, {}));
        const dead = { pending: 0, dead: 1, lagMillis: 0 };
        await expect.poll(() => stateOf(service), { timeout: 8_000 }).toEqual(dead);
      },
    );

    test("after three attempts an event is a dead letter; redrive delivers it", async () => {
      answer = () => 503;
      const service = await startOne();
      await service.post("/orders", { n: 1 });
      const dead = { pending: 0, dead: 1, lagMillis: 0 };
      await expect.poll(() => stateOf(service), { timeout: 8_000 }).toEqual(dead);
      expect(deliveries).toHaveLength(3);
      answer = () => 204;
      const data = { ...environment(), DATA_DIR: `/tmp/opwright-outbox-${process.pid}` };
      const reported = await runCommand(data, ["outbox"]);
      expect(JSON.parse(reported.stdout)).toEqual(dead);
      const listed = await runCommand(data, ["dead-letters"]);
      expect(JSON.parse(listed.stdout)).toEqual([
        expect.objectContaining({
          event: "orders.placed",
          attempts: 3,
          error: expect.stringContaining("503"),
        }),
      ]);
      expect((await runCommand(data, ["dead-letters", "orders.other"])).stdout).toBe("[]\n");
      expect((await runCommand(data, ["redrive", "orders.other"])).stdout).toBe("0\n");
      expect((await runCommand(data, ["redrive", "orders.placed"])).stdout).toBe("1\n");
      await expect.poll(() => deliveries.length, { timeout: 5_000 }).toBe(4);
      await expect.poll(() => stateOf(service)).toEqual({ pending: 0, dead: 0, lagMillis: 0 });
    }, 20_000);

    test("the lag is the age of the oldest event that waits", async () => {
      answer = () => 503;
      const service = await startOne();
      const { connection } = service.running;
      await connection.write("test.old", ({ transaction }) =>
        transaction.of(outboxStore).add({
          id: "01890000-0000-7000-8000-000000000001",
          name: "orders.placed",
          payload: connection.sealer.seal('{"n":1}', "01890000-0000-7000-8000-000000000001"),
          shape: null,
          traceparent: null,
          tenant: "default",
          createdAt: Date.now() + 60_000,
        }),
      );
      const at = Date.now() + 90_000;
      const state = await connection.database.reader.of(outboxStore).state(at);
      expect([state.pending, Math.round(state.lagMillis / 1_000)]).toEqual([1, 30]);
    });

    test("events held by a killed relay are delivered by another once the lease ends", async () => {
      const service = await startOne();
      const { connection } = service.running;
      const id = "01890000-0000-7000-8000-000000000002";
      const payload = connection.sealer.seal('{"n":7}', id);
      const staged = {
        name: "orders.placed",
        payload,
        shape: null,
        traceparent: null,
        tenant: "default",
      };
      // Claimed by nobody that lives: due again in half a second.
      await connection.write("test.claimed", async ({ transaction }) => {
        const now = Date.now();
        await transaction.of(outboxStore).add({ ...staged, id, createdAt: now });
        const window = { now, leaseUntil: now + 500, limit: 10 };
        expect(await transaction.of(outboxStore).claim(["orders.placed"], window)).toHaveLength(1);
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(deliveries).toEqual([]);
      await expect.poll(() => deliveries.map(({ n }) => n), { timeout: 5_000 }).toEqual([7]);
    });

    test("three relays on one database deliver 200 events, each once", async () => {
      const services = [await startOne(), await startOne(), await startOne()];
      const posts = Array.from({ length: 200 }, (_, n) =>
        services[n % 3]?.post("/orders", { n }).then(({ status }) => status),
      );
      expect(new Set(await Promise.all(posts))).toEqual(new Set([204]));
      const [first] = services;
      if (first === undefined) throw new Error("no service");
      await expect.poll(() => deliveries.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(200);
      await expect.poll(() => stateOf(first)).toEqual({ pending: 0, dead: 0, lagMillis: 0 });
      expect(deliveries.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 200 }, (_, n) => n),
      );
    }, 30_000);

    test("an event of another name waits for a process that knows where it goes, and the rest goes on", async () => {
      const service = await startOne();
      await service.running.connection.write("test.unknown", (context) =>
        stage(context, "orders.new", { n: 1 }),
      );
      await service.post("/orders", { n: 2 });
      await expect.poll(() => deliveries.map(({ n }) => n)).toEqual([2]);
      await expect.poll(async () => (await stateOf(service)).pending).toBe(1);
      expect((await stateOf(service)).dead).toBe(0);
    });

    test("a destination that hangs holds up neither the others nor the end of the process", async () => {
      let hanging = 0;
      const service = await startTestService(engine, {
        definition: {
          ...definition,
          outbox: outbox({
            events: {
              "orders.placed": "shop",
              "orders.lost": () => {
                hanging += 1;
                return new Promise<void>(() => undefined);
              },
            },
          }),
        },
        environment: { ...environment(), DRAIN_SECONDS: "0.5" },
      });
      await service.running.connection.write("test.hang", (context) =>
        stage(context, "orders.lost", { n: 1 }),
      );
      await expect.poll(() => hanging).toBe(1);
      await service.post("/orders", { n: 2 });
      await expect.poll(() => deliveries.map(({ n }) => n)).toEqual([2]);
      const started = performance.now();
      await service.stop();
      expect(performance.now() - started).toBeLessThan(5_000);
    });
  });
}

test("in production every destination and its secret must be named", async () => {
  const { readSettings } = await import("../../../runtime/server/settings.js");
  const attempt = (environment: Readonly<Record<string, string>>) => () =>
    readSettings(reference, { NODE_ENV: "production", ...environment });
  expect(attempt({})).toThrow("DESTINATION_NOTIFICATIONS must be the URL of a webhook");
  expect(attempt({ DESTINATION_NOTIFICATIONS: "log:" })).toThrow(
    "DESTINATION_NOTIFICATIONS must be",
  );
  expect(attempt({ DESTINATION_NOTIFICATIONS: "https://a.test" })).toThrow(
    "SECRETS_WEBHOOK must be set",
  );
  expect(attempt({ SECRETS_RESET_PEPPER: "c2hvcnQ" })).toThrow(
    "SECRETS_RESET_PEPPER needs at least 32 bytes",
  );
});
