// What deliveries of integration events know: the documents and files of the event's tenant, and where the service is.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collection, objects, type ExecutionContext } from "../../../runtime/index.js";
import type { IntegrationEvent } from "../../../runtime/families/outbox/event.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

type Deliver = (event: IntegrationEvent, context: ExecutionContext) => Promise<void>;
/** What delivers the next events. */
const next: { deliver: Deliver } = { deliver: async () => undefined };
Object.assign(globalThis, { deliveryUnderTest: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: shop, title: Shop, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
documents:
  orders: {type: {title: string, told: {type: integer, default: 0}}, set: {told: $handler}, guard: member}
storage:
  papers: {guard: member}
outbox:
  events:
    orders.placed: {destination: registry/deliver.ts#deliver, data: {order: uuid}}
operations:
  orders.place: {post: /place, in: {title: string}, out: {id: uuid}, run: registry/place.ts#place, guard: member}
`,
  "registry/deliver.ts":
    "export const deliver = (event, context) => globalThis.deliveryUnderTest.deliver(event, context);\n",
  "registry/place.ts": `import { collection, objects } from "opwright/runtime";
import { ordersSpec } from "../generated/documents/orders.js";
import { papersSpec } from "../generated/storage/papers.js";
import { stageEvent } from "../generated/outbox.js";
export const place = async ({ title }, context) => {
  const order = await collection(ordersSpec, context).create({ title });
  await objects(papersSpec, context).put(order.id + ".txt", "receipt of " + title);
  await stageEvent(context, "orders.placed", { order: order.id });
  return order;
};
`,
};

let project: TestProject;
// oxlint-disable-next-line typescript/no-explicit-any -- the specs are generated only now
let specs: Record<"orders" | "papers", any>;
beforeAll(async () => {
  project = await testProject(files);
  specs = {
    orders: (await project.load("generated/documents/orders.ts")).ordersSpec,
    papers: (await project.load("generated/storage/papers.ts")).papersSpec,
  };
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      service = await project.start(engine);
      people = peopleOf(service, (await project.load("generated/identity.ts")).identitySpec);
    });
    afterAll(() => service.stop());

    /** Places an order as a member of a tenant of its own; resolves with what its delivery has found. */
    const placed = async (title: string, look: (context: ExecutionContext) => Promise<unknown>) => {
      const { token, tenantId } = await people.member("");
      const found = new Promise<unknown>((resolve, reject) => {
        next.deliver = (event, context) => {
          const looked = look(context).then((seen) => ({ event, seen }));
          looked.then(resolve, reject);
          return looked.then(() => undefined);
        };
      });
      const { status, body } = await people.as(token, "POST", "/place", { title });
      expect(status).toBe(200);
      return { id: body.id as string, token, tenantId, found: await found };
    };

    test("a delivery reads what is committed in the tenant of its event, and no other", async () => {
      const look = async (context: ExecutionContext) => {
        const orders = await collection(specs.orders, context).find();
        const [{ id = "" } = {}] = orders as readonly { readonly id?: string }[];
        const paper = await objects(specs.papers, context).bytes(`${id}.txt`);
        const { identity, tenant, publicUrl } = context;
        return {
          ids: [id],
          count: orders.length,
          paper: paper.toString(),
          identity,
          tenant,
          publicUrl,
        };
      };
      for (const title of ["tea", "coffee"]) {
        const { id, tenantId, found } = await placed(title, look);
        expect(found).toMatchObject({
          event: { name: "orders.placed", data: { order: id }, tenant: tenantId },
          seen: {
            ids: [id],
            count: 1,
            paper: `receipt of ${title}`,
            identity: null,
            tenant: tenantId,
            publicUrl: service.url,
          },
        });
      }
    });

    test("it writes in a transaction of its own, and in none by itself", async () => {
      const { id, token, found } = await placed("milk", async (context) => {
        const orders = collection(specs.orders, context);
        const [order] = (await orders.find()) as readonly { readonly id: string }[];
        const told = { told: 1 };
        const refused = await orders.update(order?.id ?? "", 1, told).catch(({ code }) => code);
        await context.commit(() =>
          collection(specs.orders, context).update(order?.id ?? "", 1, told),
        );
        return refused;
      });
      expect(found).toMatchObject({ seen: "core.configuration" });
      expect((await people.as(token, "GET", `/orders/${id}`)).body).toMatchObject({
        rev: 2,
        told: 1,
      });
    });
  });
}
