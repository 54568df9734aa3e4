// What integration events carry: the members that they declare and no others, checked when they are staged.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types:
  Order: {item: string, margin: integer}
  Line: {item: string}
  Person: {name: string}
  Lines: {lines: "Line[]", by: Person}
documents:
  orders: {type: Order, guard: open}
outbox:
  events:
    orders.placed: {destination: shop, data: {id: uuid, item: string}}
    orders.counted: {destination: shop, data: {thing: uuid}}
    orders.copied: {destination: shop, data: Order}
    orders.listed: {destination: shop, data: Lines}
operations:
  shop.place: {post: /place, in: {item: string}, run: registry/handlers.ts#place, guard: open}
  shop.copy: {post: /copy, in: {item: string}, run: registry/handlers.ts#copy, guard: open}
  shop.stage: {post: /stage, in: {name: string, json: string}, run: registry/handlers.ts#stage, guard: open}
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { ordersSpec } from "../generated/documents/orders.js";
import { stageEvent } from "../generated/outbox.js";
const order = ({ item }, context) =>
  collection(ordersSpec, context).create({ item, margin: 42 });
export const place = async (input, context) =>
  stageEvent(context, "orders.placed", await order(input, context));
export const copy = async (input, context) =>
  stageEvent(context, "orders.copied", await order(input, context));
export const stage = async ({ name, json }, context) => {
  await order({ item: "staged" }, context);
  await stageEvent(context, name, JSON.parse(json));
};
`,
};

let project: TestProject;
let receiver: Server;
const received: { readonly type: string; readonly data: unknown }[] = [];

beforeAll(async () => {
  receiver = createServer((req, res) => {
    void json(req).then((event) => {
      received.push(event as (typeof received)[number]);
      res.writeHead(204).end();
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  project = await testProject(files);
});
afterAll(() => {
  receiver.close();
  project.remove();
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    const log = recordingLog();
    beforeAll(async () => {
      const { port } = receiver.address() as AddressInfo;
      const environment = { DESTINATION_SHOP: `http://127.0.0.1:${port}` };
      service = await project.start(engine, { environment, log });
    });
    afterAll(() => service.stop());
    beforeEach(() => void received.splice(0));

    /** The data of the next event that arrives. */
    const next = async (): Promise<unknown> => {
      await expect.poll(() => received.length).toBe(1);
      return received[0]?.data;
    };

    test("a document that is passed as an event arrives with the members that the event declares", async () => {
      expect((await service.post("/place", { item: "tea" })).status).toBe(204);
      expect(await next()).toEqual({ id: expect.any(String), item: "tea" });
    });

    test("an event of a document's type arrives as documents are", async () => {
      expect((await service.post("/copy", { item: "tea" })).status).toBe(204);
      expect(await next()).toMatchObject({ item: "tea", margin: 42 });
    });

    test("members that are nested are cut as well", async () => {
      const data = { lines: [{ item: "tea", cost: 1 }], by: { name: "bob", mail: "b@c.test" } };
      const answer = await service.post("/stage", {
        name: "orders.listed",
        json: JSON.stringify(data),
      });
      expect(answer.status).toBe(204);
      expect(await next()).toEqual({ lines: [{ item: "tea" }], by: { name: "bob" } });
    });

    test.each([
      ["orders.counted", { thing: 5, more: 1 }, "/thing"],
      ["orders.counted", {}, "thing"],
      ["orders.counted", null, "it "],
      ["orders.nowhere", {}, "is no event"],
    ])(
      "%s with %j fails the operation: nothing is stored, and the log says why",
      async (name, data, why) => {
        const before = await service.post("/orders/list", {});
        expect(before.status).toBe(200);
        const lines = log.lines.length;
        const answer = await service.post("/stage", { name, json: JSON.stringify(data) });
        expect(answer).toMatchObject({ status: 500, body: { code: "core.internal", context: {} } });
        const [line] = log.lines.slice(lines).filter(({ level }) => level === "error");
        expect(line?.error).toContain(name);
        expect(line?.error).toContain(why);
        expect((await service.post("/orders/list", {})).body).toEqual(before.body);
        const { pending, dead } = await service.running.connection.database.reader
          .of(outboxStore)
          .state(Date.now());
        expect([pending, dead]).toEqual([0, 0]);
      },
    );
  });
}
