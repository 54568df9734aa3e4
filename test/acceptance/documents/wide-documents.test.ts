// Documents of many fields: every operation of theirs works as with few.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const names = Array.from({ length: 400 }, (_, at) => `field_${at}`);

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  forms:
    type: {${names.map((name) => `${name}: "string?"`).join(", ")}}
    guard: open
    tenant: false
    soft_delete: true
    history: {keep: 3}
    unique: [[field_0]]
    upsert: true
    bulk: {max: 20}
  rows:
    type: {${names
      .slice(0, 30)
      .map((name) => `${name}: integer`)
      .join(", ")}}
    guard: open
    # With the tenant and the id these are as many columns as an index of PostgreSQL has.
    indexes: [[${names.slice(0, 30).join(", ")}]]
search:
  form_search: {of: forms, text: [field_0, field_399], guard: open}
`,
  });
}, 60_000);
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await project.start(engine);
    }, 60_000);
    afterAll(() => service.stop());

    test("documents are kept with an index of 30 fields", async () => {
      const row = Object.fromEntries(names.slice(0, 30).map((name, at) => [name, at]));
      expect((await service.post("/rows", row)).status).toBe(201);
      const { body } = await service.post("/rows/list", { filters: { $values: row } });
      expect(body.count).toBe(1);
    });

    test("a document of 400 fields is written, changed, found and read", async () => {
      const whole = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
      const created = await service.post("/forms", whole);
      expect([created.status, created.body]).toEqual([201, { ...created.body, ...whole }]);
      const { id } = created.body;
      const patch = Object.fromEntries(names.map((name) => [name, `later ${name}`]));
      const changed = await service.call("PATCH", `/forms/${id}?rev=1`, { body: patch });
      expect([changed.status, changed.body.data]).toEqual([
        200,
        { ...changed.body.data, ...patch, rev: 2 },
      ]);
      const listed = await service.post("/forms/list", {
        filters: {
          $and: names.slice(0, 40).map((name) => ({ $values: { [name]: `later ${name}` } })),
        },
        sorts: { field_399: "desc" },
      });
      expect([listed.status, listed.body.count ?? listed.body]).toEqual([200, 1]);
      const many = await service.post("/forms/create_many", {
        items: names.slice(0, 20).map((field_0) => ({ ...whole, field_0 })),
      });
      expect([many.status, many.body.done]).toEqual([200, 20]);
      const upserted = await service.post("/forms/upsert", {
        by: ["field_0"],
        document: { ...whole, field_0: "field_3" },
      });
      expect([upserted.status, upserted.body.created]).toEqual([200, false]);
      const found = await service.post("/search/form_search/typed", { query: "later" });
      expect([found.status, found.body.count ?? found.body]).toEqual([200, 1]);
    });
  });
}
