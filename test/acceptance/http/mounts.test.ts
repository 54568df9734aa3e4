// Mounts by prefix, for every family, and what is sensitive (decisions.md §1 "Attach rules").
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: mounted, title: Mounted, version: 1.0.0}
identity: {mount: false, provisioning: {guard: open, mount: false}}
tenancy: {selector: {mount: false}, admin: {guard: open, mount: {at: /staff, include: [create_tenant]}}}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open, mount: false}
  secrets: {type: {text: string}, guard: open, sensitive: true}
search:
  found: {of: notes, text: {text: 1}, guard: open, mount: false}
  hidden: {of: secrets, text: {text: 1}, guard: open}
storage:
  files: {guard: open, mount: false}
  vault: {guard: open, sensitive: true}
mounts:
  auth: {prefix: /auth, at: /a}
  people: {prefix: /admin, at: /p}
  mine: {prefix: /tenants, at: /mine}
  rest: {prefix: /staff, at: /t, include: [list_tenants]}
  notes: {prefix: /notes, at: /n}
  found: {prefix: /search/found, at: /s}
  files: {prefix: /files, at: /f}
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({ "registry/service.yaml": registry });
      service = await startTestService(engine, { ...declared, signsIn: false });
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    test("operations of every family are where a mount by their prefix puts them", async () => {
      expect((await service.post("/n", { text: "a" })).status).toBe(201);
      expect((await service.post("/s/typed", { query: "a" })).body.hits).toHaveLength(1);
      const form = new FormData();
      form.set("file", new Blob(["text"]), "x.txt");
      expect((await service.post("/f/files", form)).status).toBe(201);
      const person = { login: "ann@example.test", password: "a long enough password" };
      expect((await service.post("/p/principals", person)).status).toBe(201);
      const { status, body } = await service.post("/a/login", person);
      expect(status).toBe(200);
      const headers = { authorization: `Bearer ${body.access_token}` };
      expect((await service.call("GET", "/mine", { headers })).body).toEqual({ tenants: [] });
      expect((await service.post("/staff/tenants", { tenant_key: "acme" })).status).toBe(201);
      expect((await service.call("GET", "/t/tenants")).body.tenants).toHaveLength(1);
      for (const path of ["/auth/login", "/files/files", "/notes", "/search/found/typed"])
        expect([path, (await service.post(path, {})).status]).toEqual([path, 404]);
    });

    test("sensitive namespaces have no route, and no document, catalog or tool names them", async () => {
      for (const path of ["/vault", "/secrets", "/search/hidden/typed"])
        expect([path, (await service.post(path, {})).status]).toEqual([path, 404]);
      for (const file of ["openapi.json", "catalog.json", "tools.json"]) {
        const text = readFileSync(join(declared.folder, file), "utf8");
        expect([file, /\b(?:vault|secrets|hidden|Secrets)\b/.test(text)]).toEqual([file, false]);
      }
    });
  });
}
