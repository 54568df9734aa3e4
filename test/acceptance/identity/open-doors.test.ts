// What authors leave open in so many words: operations that ignore credentials, and administrations without a guard
// (decisions.md §4 "Administration without a guard").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: doors, title: Doors, version: 1.0.0}
identity:
  ingress: [{bearer: Authorization}, {cookie: session}]
  deactivate: {guard: open}
  provisioning: {guard: open}
tenancy: {admin: {guard: open}}
policies: {open: []}
operations:
  hooks.paid: {post: /hooks/paid, out: {caller: string?}, run: registry/h.ts#caller, guard: open, credentials: ignore}
  hooks.seen: {post: /hooks/seen, out: {caller: string?}, run: registry/h.ts#caller, guard: open}
`;
const handlers = `
import type { ExecutionContext } from "opwright/runtime";
export const caller = (_input: unknown, { identity }: ExecutionContext): { readonly caller: string | null } =>
  ({ caller: identity?.principalId ?? null });
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/h.ts": handlers,
      });
      service = await startTestService(engine, { ...declared, signsIn: false });
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    test("an operation that ignores credentials runs with any, and for nobody", async () => {
      for (const headers of [
        {},
        { authorization: "Bearer nonsense" },
        { cookie: "session=nonsense" },
      ] as const) {
        const answer = await service.post("/hooks/paid", {}, headers);
        expect([headers, answer.status, answer.body]).toEqual([headers, 200, { caller: null }]);
      }
      const answer = await service.post("/hooks/seen", {}, { authorization: "Bearer nonsense" });
      expect(answer.status).toBe(401);
    });

    test("the document asks for no credential there, and promises no 401", async () => {
      const { body } = await service.call("GET", "/openapi.json");
      const { responses, security } = body.paths["/hooks/paid"].post;
      expect([Object.keys(responses).includes("401"), security]).toEqual([false, undefined]);
      expect(Object.keys(body.paths["/hooks/seen"].post.responses)).toContain("401");
    });

    test("an administration whose author wrote `guard: open` asks for nobody", async () => {
      const made = await service.post("/admin/principals", {
        login: "ann@example.test",
        password: "a long enough password",
      });
      expect(made.status).toBe(201);
      const { principal_id: principal } = made.body;
      const tenant = await service.post("/admin/tenants", { tenant_key: "acme" });
      expect(tenant.status).toBe(201);
      const membership = { tenant_id: tenant.body.tenant_id, principal_id: principal };
      expect((await service.post("/admin/memberships", membership)).status).toBe(204);
      const permission = { principal_id: principal, permission: "platform.admin" };
      expect((await service.post("/admin/grants", permission)).status).toBe(204);
      const ended = await service.post("/auth/deactivate", { principal_id: principal });
      expect(ended.status).toBe(204);
    });
  });
}
