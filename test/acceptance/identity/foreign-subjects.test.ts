// Subjects of other issuers: each is mapped to a principal, and stands in tenants as other principals do (decisions.md §4
// "Authentication specs").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: tracker, title: Subjects, version: 1.0.0}
identity:
  routes:
    api: {}
    partner: {verifier: registry/partner.ts#verify, resolver: registry/partner.ts#resolve}
  ingress: [{bearer: Authorization}, {bearer: X-Partner, route: partner}]
  provisioning: {guard: admin}
  deactivate: {guard: admin}
tenancy: {admin: {guard: admin}}
policies:
  own: [principal, tenant, {authorize: "{resource}.write"}, {scope: own_rows}]
  admin: [principal, {authorize: platform.admin}]
documents:
  notes: {type: {text: string}, guard: own}
`;
const partner = `
import type { ForeignCaller } from "opwright/runtime";
interface Claims { readonly sub: string; readonly tid: string | null }
export const verify = (token: string): Claims | null => {
  const [name, sub = "", tid = ""] = token.split("/");
  return name === "partner" ? { sub: decodeURIComponent(sub), tid: tid === "" ? null : tid } : null;
};
export const resolve = ({ sub, tid }: Claims): ForeignCaller =>
  ({ issuer: "https://partner.test", subject: sub, tenant: tid, expiresAt: null });
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    let people: People;
    let admin = "";
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/partner.ts": partner,
      });
      service = await startTestService(engine, { ...declared, signsIn: false });
      people = peopleOf(service);
      const { id } = await people.person("platform.admin");
      admin = (await people.session(id, null)).access_token;
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });
    const as = (
      sub: string,
      tenant: string,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Answer> =>
      service.call(method, path, {
        headers: { "x-partner": `Bearer partner/${encodeURIComponent(sub)}/${tenant}` },
        ...(body === undefined ? {} : { body }),
      });
    const administer = (method: string, path: string, body?: unknown): Promise<Answer> =>
      people.as(admin, method, path, body);
    const idOf = async (sub: string): Promise<string> =>
      (await as(sub, "", "GET", "/auth/me")).body.principal_id;
    const find = async (subject: string): Promise<Answer> => {
      const query = new URLSearchParams({ issuer: "https://partner.test", subject });
      return administer("GET", `/admin/subjects?${query}`);
    };
    let tenants = 0;
    const newTenant = async (): Promise<string> =>
      (await administer("POST", "/admin/tenants", { tenant_key: `subjects-${(tenants += 1)}` }))
        .body.tenant_id;

    test("a subject that is no UUID is the same principal at each request", async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => idOf("auth0|Zoë")));
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(await idOf("auth0|zoë")).not.toBe(ids[0]);
      const { body } = await find("auth0|Zoë");
      expect(body.principals).toMatchObject([{ principal_id: ids[0], is_active: true }]);
      expect((await find("auth0|nobody")).body).toEqual({ principals: [] });
    });

    test("a subject that reads as an id of the service is another principal", async () => {
      const { id } = await people.person();
      expect(await idOf(id)).not.toBe(id);
    });

    test("nobody signs in with a password as a mapped principal", async () => {
      await idOf("s1");
      const { login } = (await find("s1")).body.principals[0];
      const answer = await service.post("/auth/login", { login, password: "a" });
      expect(answer.status).toBe(401);
      const made = await administer("POST", "/admin/principals", {
        login,
        password: "a long enough password",
      });
      expect(made.status).toBe(201);
      expect(made.body.principal_id).not.toBe(await idOf("s1"));
    });

    test("its tenant is checked live: existence, membership, activity, permissions", async () => {
      const id = await idOf("s2");
      const tenant = await newTenant();
      const make = async (of: string): Promise<readonly unknown[]> => {
        const { status, body } = await as("s2", of, "POST", "/notes", { text: "t" });
        return [status, body.code];
      };
      expect(await make("")).toEqual([401, "tenant_required"]);
      expect(await make("t")).toEqual([401, "tenant_mismatch"]);
      expect(await make(tenant)).toEqual([401, "tenant_mismatch"]);
      const membership = { tenant_id: tenant, principal_id: id };
      await administer("POST", "/admin/memberships", membership);
      expect(await make(tenant)).toEqual([403, "core.authorization"]);
      await administer("POST", "/admin/grants", { ...membership, permission: "notes.write" });
      expect(await make(tenant)).toEqual([201, undefined]);
      await administer("POST", `/admin/tenants/${tenant}/deactivate`);
      expect(await make(tenant)).toEqual([401, "tenant_inactive"]);
      await administer("POST", `/admin/tenants/${tenant}/reactivate`);
      expect(await make(tenant)).toEqual([201, undefined]);
      await administer("DELETE", "/admin/memberships", membership);
      expect(await make(tenant)).toEqual([401, "tenant_mismatch"]);
    });

    test("a principal that was deactivated is refused, whatever its issuer says", async () => {
      const id = await idOf("s3");
      await administer("POST", "/auth/deactivate", { principal_id: id });
      expect((await as("s3", "", "GET", "/auth/me")).status).toBe(401);
      await administer("POST", "/auth/reactivate", { principal_id: id });
      expect(await idOf("s3")).toBe(id);
    });

    test("an administrator maps a subject to a principal that is there, and back", async () => {
      const { id } = await people.person();
      const subject = { issuer: "https://partner.test", subject: "s4" };
      const link = (principal: string): Promise<Answer> =>
        administer("POST", "/admin/subjects", { ...subject, principal_id: principal });
      expect((await link("01890000-0000-7000-8000-00000000dead")).status).toBe(404);
      expect((await link(id)).status).toBe(204);
      expect((await link(id)).status).toBe(409);
      expect(await idOf("s4")).toBe(id);
      expect((await administer("DELETE", "/admin/subjects", subject)).status).toBe(204);
      expect((await administer("DELETE", "/admin/subjects", subject)).status).toBe(404);
      expect(await idOf("s4")).not.toBe(id);
    });

    test("a caller of another issuer manages no credentials", async () => {
      const answer = await as("s5", "", "GET", "/auth/sessions");
      expect([answer.status, answer.body.code]).toEqual([403, "core.authorization"]);
    });
  });
}
