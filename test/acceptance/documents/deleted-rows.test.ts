// Deleted rows in lists and aggregates, where the registry allows it (decisions.md "Documents").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: deleted, title: Deleted, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string, size: integer}, guard: open, soft_delete: {list_deleted: true}}
  pages: {type: {text: string, size: integer}, guard: open, soft_delete: true}
`,
  });
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await project.start(engine);
      for (const document of ["notes", "pages"])
        for (const size of [1, 2, 4]) {
          const { body } = await service.post(`/${document}`, { text: "t", size });
          if (size === 4) await service.post(`/${document}/${body.id}/delete?rev=1`, undefined);
        }
    });
    afterAll(() => service.stop());

    const aggregates = { $computed: { count: { $count: {} }, sum: { $sum: "size" } } };
    const grouped = { $groups: { gone: "is_deleted" }, ...aggregates };
    const asked = (path: string, body: object) => service.post(`/${path}/agg_list`, body);

    test("are counted where they are asked for, and not otherwise", async () => {
      const live = { count: 2, sum: 3 };
      expect((await asked("notes", { aggregates })).body.hits).toEqual([live]);
      expect((await asked("notes", { aggregates, with_deleted: false })).body.hits).toEqual([live]);
      const whole = await asked("notes", { aggregates, with_deleted: true });
      expect(whole.body.hits).toEqual([{ count: 3, sum: 7 }]);
      const body = { aggregates: grouped, sorts: { gone: "asc" }, with_deleted: true };
      expect((await asked("notes", body)).body.hits).toEqual([
        { gone: false, ...live },
        { gone: true, count: 1, sum: 4 },
      ]);
      expect((await service.post("/notes/list", { with_deleted: true })).body.count).toBe(3);
    });

    test("are refused to ask for where the registry does not allow it, and where it is no truth value", async () => {
      const refused = await asked("pages", { aggregates, with_deleted: true });
      expect([refused.status, refused.body.context.errors[0].path]).toEqual([422, "/with_deleted"]);
      expect((await asked("notes", { aggregates, with_deleted: "yes" })).status).toBe(422);
    });

    test("stand in the document where they may be asked for", () => {
      const { components } = project.openapi as {
        readonly components: {
          readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
        };
      };
      const has = (name: string): boolean =>
        Object.hasOwn(components.schemas[name]?.properties ?? {}, "with_deleted");
      expect([has("NotesAggListInput"), has("PagesAggListInput")]).toEqual([true, false]);
    });
  });
}
