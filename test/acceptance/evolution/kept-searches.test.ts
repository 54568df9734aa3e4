// Searches that come, go and change while the version before still writes: its index stays until it is purged
// (decisions.md "What is stored knows its shape and its name").
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (searches: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {title: string, body: string}, guard: open, soft_delete: true}
  memos: {type: {title: string, body: string}, guard: open}
${searches === "" ? "" : `search:\n  finder: {${searches}, guard: open}`}
`,
});
const byTitle = "of: notes, text: [title]";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    /** Two versions beside each other, the second migrated over the first, and what follows them. */
    const beside = async (first: string, second: string, ...further: readonly string[]) => {
      const { same, drop } = await sharedDatabase(engine);
      onTestFinished(drop);
      const projects: TestProject[] = [];
      for (const searches of [first, second, ...further]) {
        const project = await testProject(registry(searches), projects.at(-1));
        onTestFinished(() => project.remove());
        projects.push(project);
      }
      const started = async (at: number): Promise<TestService> => {
        const service = await projects[at]?.start(same);
        if (service === undefined) throw new Error("no such version");
        onTestFinished(() => service.stop());
        return service;
      };
      const old = await started(0);
      expect(await create(old, "before")).toBe(201);
      return { old, next: await started(1), started };
    };
    const create = async (service: TestService, title: string, body = "text"): Promise<number> =>
      (await service.post("/notes", { title, body })).status;
    const found = async (service: TestService, query: string): Promise<number | string> => {
      const { status, body } = await service.post("/search/finder/typed", { query });
      return status === 200 ? body.count : `status ${status}`;
    };

    test.each([
      ["dropped", ""],
      ["over other texts", "of: notes, text: [title, body]"],
      ["over fewer weights", "of: notes, text: {title: 3}"],
      ["in a language", "of: notes, text: [title], language: en"],
      ["over another document", "of: memos, text: [title]"],
      ["called otherwise", `${byTitle}, guard: open}\n  seeker: {${byTitle}`],
    ])("a search that is %s stays that of the version before", async (_what, next) => {
      const versions = await beside(byTitle, next);
      expect(await create(versions.old, "walnut beside")).toBe(201);
      expect(await found(versions.old, "walnut")).toBe(1);
      expect(await create(versions.next, "walnut next")).toBe(201);
      const { id } = (await versions.old.post("/notes", { title: "changed", body: "x" })).body;
      const patch = { body: { title: "walnut changed" } };
      expect((await versions.old.call("PATCH", `/notes/${id}?rev=1`, patch)).status).toBe(200);
      expect(
        (
          await versions.next.call("PATCH", `/notes/${id}?rev=2`, {
            body: { title: "walnut again" },
          })
        ).status,
      ).toBe(200);
      expect(Number(await found(versions.old, "walnut"))).toBeGreaterThan(0);
    });

    test("a changed search is filled by a rebuild, and comes back with another index", async () => {
      const versions = await beside(byTitle, "of: notes, text: [title, body]", byTitle, byTitle);
      expect(await create(versions.next, "almond", "walnut")).toBe(201);
      expect(await found(versions.next, "walnut")).toBe(1);
      expect(await found(versions.next, "before")).toBe(0);
      const back = await versions.started(2);
      // Not the first index, which knows nothing of what was written meanwhile.
      expect(await found(back, "before")).toBe(0);
      expect(await create(back, "almond back")).toBe(201);
      expect(await found(back, "almond")).toBe(1);
      expect(await create(versions.old, "almond of old")).toBe(201);
    });

    test("purging drops the indexes that no search has any more", async () => {
      const { same, drop } = await sharedDatabase(engine);
      onTestFinished(drop);
      const first = await testProject(registry(byTitle));
      onTestFinished(() => first.remove());
      const second = await testProject(registry("of: notes, text: [body]"), first);
      onTestFinished(() => second.remove());
      const purged = await testProject(registry("of: notes, text: [body]"), second, {
        purges: true,
      });
      onTestFinished(() => purged.remove());
      for (const project of [first, second]) await (await project.start(same)).stop();
      const service = await purged.start(same);
      onTestFinished(() => service.stop());
      expect((await service.post("/notes", { title: "a", body: "walnut" })).status).toBe(201);
      expect(await found(service, "walnut")).toBe(1);
      const files = join(purged.root, "generated/migrations", engine.name);
      const [last = ""] = readdirSync(files).toSorted().toReversed();
      expect(readFileSync(join(files, last), "utf8")).toMatch(
        /^DROP TABLE IF EXISTS "finder_index_words";\nDROP TABLE IF EXISTS "finder_index";$/m,
      );
    });
  });
}
