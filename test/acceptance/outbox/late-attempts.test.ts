// The end of an attempt that outlives its lease changes nothing of a later attempt, and one process never has two attempts of one item under way.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { IntegrationEvent } from "../../../runtime/families/outbox/event.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";
import { StandingClock } from "../../../runtime/testing/clock.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

/** What delivers the next events. */
const next: { deliver: (event: IntegrationEvent) => Promise<void> } = {
  deliver: async () => undefined,
};
Object.assign(globalThis, { lateDelivery: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: shop, title: Shop, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
outbox:
  events:
    orders.placed: {destination: registry/deliver.ts#deliver, data: {order: string}}
    orders.told: {destination: log, data: {order: string}}
webhooks:
  guard: member
  mount: {at: /webhooks}
  events: [orders.told]
operations:
  orders.place: {post: /place, in: {title: string}, out: {}, run: registry/place.ts#place, guard: member}
  orders.tell: {post: /tell, in: {title: string}, out: {}, run: registry/place.ts#tell, guard: member}
`,
  "registry/deliver.ts":
    "export const deliver = (event) => globalThis.lateDelivery.deliver(event);\n",
  "registry/place.ts": `import { stageEvent } from "../generated/outbox.js";
export const place = async ({ title }, context) => {
  await stageEvent(context, "orders.placed", { order: title });
  return {};
};
export const tell = async ({ title }, context) => {
  await stageEvent(context, "orders.told", { order: title });
  return {};
};
`,
};
const environment = {
  WEBHOOK_ADDRESSES: "any",
  WEBHOOK_BACKOFF_SECONDS: "600",
  OUTBOX_BACKOFF_SECONDS: "600",
  DRAIN_SECONDS: "1",
};
const minute = 60_000;

let project: TestProject;
let receiver: Server;
let base = "";
/** Calls of webhooks that wait for their answer. */
const held: ServerResponse[] = [];
beforeAll(async () => {
  project = await testProject(files);
  receiver = createServer((req, res) => void text(req).then(() => held.push(res)));
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
  project.remove();
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const stops: (() => Promise<void>)[] = [];
    let keys = "";
    let database: Awaited<ReturnType<typeof sharedDatabase>>;
    let clock: StandingClock;
    let service: TestService;
    let member: Member;
    const begin = async (at: StandingClock, more: Readonly<Record<string, string>> = {}) => {
      const { service: definition } = await project.load("generated/service.ts");
      const started = await startTestService(database.same, {
        definition,
        folder: `${project.root}/generated`,
        // What one process has sealed, the other opens.
        environment: { ...environment, DATA_DIR: keys, ...more },
        clock: at,
      });
      stops.push(started.stop);
      return started;
    };
    const enter = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
      clock = new StandingClock(Date.now());
      service = await begin(clock, more);
      const people = peopleOf(service, (await project.load("generated/identity.ts")).identitySpec);
      member = await people.member("");
    };
    const as = (method: string, path: string, body?: unknown): Promise<Answer> =>
      service.call(method, path, {
        body,
        headers: { authorization: `Bearer ${member.token}` },
      });
    const stateOfOutbox = () =>
      service.running.connection.database.reader.of(outboxStore).state(clock.now());

    beforeEach(async () => {
      held.length = 0;
      keys = mkdtempSync(join(tmpdir(), "opwright-keys-"));
      database = await sharedDatabase(engine);
    });
    afterEach(async () => {
      for (const res of held) res.destroy();
      for (const stop of stops.splice(0)) await stop();
      await database.drop();
      rmSync(keys, { recursive: true, force: true });
    });

    const heldAre = (count: number): Promise<void> =>
      expect.poll(() => held.length, { timeout: 10_000 }).toBe(count);
    const subscribe = async (): Promise<() => Promise<Answer["body"]>> => {
      const made = await as("POST", "/webhooks", { url: `${base}/a`, events: ["orders.told"] });
      expect(made.status).toBe(201);
      return async () =>
        (await as("GET", `/webhooks/${made.body.id}/deliveries`)).body.deliveries[0];
    };

    test("a delivered webhook stays delivered when an earlier attempt fails late", async () => {
      await enter();
      const delivery = await subscribe();
      expect((await as("POST", "/tell", { title: "it" })).status).toBe(200);
      await heldAre(1);
      await begin(new StandingClock(clock.now() + minute));
      await heldAre(2);
      held[1]?.writeHead(204).end();
      await expect.poll(delivery).toMatchObject({ state: "delivered", attempts: 2 });
      held[0]?.writeHead(500).end();
      await service.running.stop();
      service = await begin(clock);
      expect(await delivery()).toMatchObject({ state: "delivered", attempts: 2, status: 204 });
    });

    test("a webhook that answers an earlier attempt late has been delivered to", async () => {
      await enter();
      const delivery = await subscribe();
      await as("POST", "/tell", { title: "it" });
      await heldAre(1);
      const other = await begin(new StandingClock(clock.now() + minute));
      await heldAre(2);
      held[0]?.writeHead(204).end();
      await expect.poll(delivery).toMatchObject({ state: "delivered", status: 204 });
      held[1]?.writeHead(500).end();
      await other.running.stop();
      expect(await delivery()).toMatchObject({ state: "delivered", status: 204, error: null });
    });

    test("a dead letter stays one when an earlier attempt fails late", async () => {
      await enter({ OUTBOX_MAX_ATTEMPTS: "2" });
      const attempts: number[] = [];
      let failFirst: (error: Error) => void = () => undefined;
      next.deliver = ({ attempt }) => {
        attempts.push(attempt);
        if (attempt > 1) return Promise.reject(new Error("refused"));
        return new Promise((_, reject) => (failFirst = reject));
      };
      await as("POST", "/place", { title: "it" });
      await expect.poll(() => attempts).toEqual([1]);
      await begin(new StandingClock(clock.now() + minute), { OUTBOX_MAX_ATTEMPTS: "2" });
      await expect.poll(stateOfOutbox).toMatchObject({ pending: 0, dead: 1 });
      failFirst(new Error("late"));
      await service.running.stop();
      service = await begin(clock);
      expect(await stateOfOutbox()).toMatchObject({ pending: 0, dead: 1 });
      expect(attempts).toEqual([1, 2]);
    });

    test("a clock that passes a lease ends the attempt before the next begins", async () => {
      await enter({ WEBHOOK_MAX_ATTEMPTS: "1", OUTBOX_MAX_ATTEMPTS: "1" });
      const delivery = await subscribe();
      let underWay = 0;
      next.deliver = () => {
        underWay += 1;
        return new Promise(() => undefined);
      };
      await as("POST", "/tell", { title: "it" });
      await as("POST", "/place", { title: "it" });
      await heldAre(1);
      await expect.poll(() => underWay).toBe(1);
      await clock.moveTo(clock.now() + minute);
      await expect.poll(delivery, { timeout: 5_000 }).toMatchObject({
        state: "failed",
        attempts: 1,
        error: "no answer within 10 s",
      });
      await expect.poll(stateOfOutbox).toMatchObject({ pending: 0, dead: 1 });
      expect(underWay).toBe(1);
      expect(held).toHaveLength(1);
    });
  });
}
