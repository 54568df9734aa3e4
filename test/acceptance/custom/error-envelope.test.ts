// Bodies of errors that a function of the author's makes: of all errors alike, as the documents say, and never more than is declared.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { raw } from "../../support/raw-sockets.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service:
  name: demo
  title: Demo
  version: 1.0.0
  errors: {envelope: registry/errors.ts#envelope, out: Failure}
policies: {open: [], member: [principal]}
identity: {methods: [token]}
types:
  Failure: {errors: {type: object, additionalProperties: {type: array, items: {type: string}}}}
errors:
  out_of_stock: {kind: conflict, detail: There are not enough left., context: {left: integer}}
  secretive: {kind: domain, detail: No., context: {left: integer}}
operations:
  shop.order:
    post: /orders
    in: {count: integer}
    run: registry/shop.ts#order
    guard: open
    errors: [out_of_stock]
  shop.look: {get: /look, run: registry/shop.ts#order, guard: member}
`,
  "registry/errors.ts": `import type { Envelope } from "../generated/errors.js";
export const envelope: Envelope = ({ status, code, detail, context }) => {
  if (code === "path_malformed") throw new Error("no envelope");
  if (code === "core.validation") {
    const all = context.errors as readonly { path: string; message: string }[];
    return { errors: Object.fromEntries(all.map(({ path, message }) => [path.slice(1), [message]])) };
  }
  return { errors: { [code]: [detail, String(status), JSON.stringify(context)] }, more: "never leaves" };
};
`,
  "registry/shop.ts": `import { fail } from "../generated/errors.js";
export const order = ({ count }) => {
  if (count === 1) throw fail("out_of_stock", { left: 3, secret: "never leaves" });
  if (count === 2) throw fail("out_of_stock", { left: "three" });
  if (count === 3) throw new Error("a fault");
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    const logged: string[] = [];
    const keep = (fields: object, message?: string): void =>
      void logged.push(`${message} ${String((fields as { readonly err?: unknown }).err)}`);
    beforeAll(async () => {
      const log = { debug: keep, info: keep, warn: keep, error: keep };
      service = await project.start(engine, { log });
    });
    afterAll(() => service.stop());

    const order = (count: unknown) => service.post("/orders", { count });

    test("every error has the body that the author's function makes, cut to its type", async () => {
      const bodies = [
        await order("x"),
        await order(1),
        await order(3),
        await service.call("GET", "/nowhere"),
        await service.call("PUT", "/orders"),
        await service.call("POST", "/orders", { body: "{" }),
        await service.call("GET", "/look", { headers: { authorization: "" } }),
        await service.call("GET", "/look", { headers: { authorization: "Bearer no" } }),
      ].map(({ status, body, headers }) => [status, headers.get("x-error-code"), body]);
      const generic = "The service could not answer this request.";
      const shaped = (status: number, code: string, detail: string, context = {}): unknown => [
        status,
        code,
        { errors: { [code]: [detail, String(status), JSON.stringify(context)] } },
      ];
      const nobody = "Authentication is required.";
      expect(bodies).toEqual([
        [422, "core.validation", { errors: { count: ["must be integer"] } }],
        shaped(409, "out_of_stock", "There are not enough left.", { left: 3 }),
        shaped(500, "core.internal", generic),
        shaped(404, "route_not_found", "No operation has this path."),
        shaped(405, "method_not_allowed", "This path does not answer that method.", {
          allowed: ["POST"],
        }),
        shaped(400, "json_malformed", "The body is not valid JSON.", { reason: "not JSON" }),
        shaped(401, "core.authentication", nobody),
        shaped(401, "core.authentication", "The credentials were not accepted."),
      ]);
    });

    test("so have requests that are no HTTP", async () => {
      for (const [text, code] of [
        ["NONSENSE\r\n\r\n", "http_malformed"],
        [
          "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
          "route_not_found",
        ],
      ] as const) {
        const connection = await raw(service.url, text);
        await expect.poll(() => connection.hasEnded()).toBe(true);
        expect(connection.received().toString()).toContain(`{"errors":{"${code}":`);
      }
    });

    test("a context that is not what is declared is a masked 500, and the log says where", async () => {
      const refused = await order(2);
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([
        500,
        expect.not.stringContaining("three"),
      ]);
      expect(logged.join("\n")).toContain("/left must be integer");
    });

    test("an envelope that fails is logged, and opwright's is there", async () => {
      const { status, body } = await service.call("GET", "/%zz");
      expect([status, body.code]).toEqual([400, "path_malformed"]);
      expect(logged.join("\n")).toContain("the envelope of an error could not be made");
    });

    test("the client knows each by its code, and has the body", async () => {
      const { createClient, shop } = await project.load("generated/client/index.ts");
      const client = createClient({ baseUrl: service.url });
      const error = await shop.order(client, { count: 1 }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({
        code: "out_of_stock",
        status: 409,
        body: { errors: { out_of_stock: expect.anything() } },
      });
    });
  });
}

test("the OpenAPI document has the type as the body of every error", () => {
  const { components } = project.openapi as {
    readonly components: {
      readonly schemas: object;
      readonly responses: Readonly<Record<string, { readonly content: unknown }>>;
    };
  };
  expect(Object.keys(components.schemas)).not.toContain("ErrorEnvelope");
  const errors = Object.entries(components.responses).filter(([status]) => status >= "400");
  expect(errors.length).toBeGreaterThan(2);
  for (const [, { content }] of errors)
    expect(content).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/Failure" } },
    });
});
