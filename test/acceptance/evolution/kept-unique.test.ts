// A unique rule that the next version doesn't declare: it holds for the version before until it is purged (evolution.md "Make a
// field unique"). Attack 199.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (further: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, type: {title: string, slug: string?}${further}}
`,
});
const unique = ", unique: [[slug]]";

let projects: readonly TestProject[] = [];
beforeAll(async () => {
  const one = await testProject(registry(unique));
  const two = await testProject(registry(""), one);
  const purged = await testProject(registry(""), two, { purges: true });
  // Generated again, it is what the purge has made of it.
  projects = [one, two, purged, await testProject(registry(""), purged)];
});
afterAll(() => projects.forEach((project) => project.remove()));

const scripts = (at: number): readonly string[] =>
  readdirSync(join(projects[at]?.root ?? "", "generated/migrations/sqlite")).toSorted();
const codes = (at: number, key: string): readonly string[] => {
  const text = readFileSync(join(projects[at]?.root ?? "", "generated/registry.json"), "utf8");
  return JSON.parse(text).operations[key].errors ?? [];
};

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let drop: () => Promise<void>;
    let same: Parameters<TestProject["start"]>[0];
    let services: readonly TestService[] = [];
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      ({ drop, same } = database);
      const started: TestService[] = [];
      // The first again, as after a rollback.
      for (const project of [projects[0], projects[1], projects[0]])
        started.push((await project?.start(same)) as TestService);
      services = started;
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    test("it holds in both versions, and both say so, until it is purged", async () => {
      const create = async (at: number, slug: string | null) => {
        const { status, body } = await (services[at] as TestService).post("/notes", {
          title: "a",
          slug,
        });
        return status === 201 ? status : [status, body.code, body.context];
      };
      const refused = [409, "unique_violation", { members: ["slug"] }];
      expect([await create(1, "x"), await create(1, null), await create(1, null)]).toEqual([
        201, 201, 201,
      ]);
      for (const at of [0, 1, 2]) expect(await create(at, "x")).toEqual(refused);
      expect(await create(0, "y")).toBe(201);
      for (const service of services.slice(0, 2)) await service.stop();
      services = [services[2] as TestService, (await projects[2]?.start(same)) as TestService];
      expect(await create(1, "x")).toBe(201);
    });
  });
}

test("only the purge has a migration, and operations answer the code until then", () => {
  expect([0, 1, 2, 3].map((at) => scripts(at).length)).toEqual([1, 1, 2, 2]);
  for (const key of ["notes.create", "notes.update"])
    expect([0, 1, 2, 3].map((at) => codes(at, key).includes("unique_violation"))).toEqual([
      true,
      true,
      false,
      false,
    ]);
});

test("a rule that is declared again has the index that was kept", async () => {
  const again = await testProject(registry(unique), projects[1]);
  expect(readdirSync(join(again.root, "generated/migrations/sqlite"))).toHaveLength(1);
  again.remove();
});

test("a field that is unique can be dropped as null alone", async () => {
  const files = (as: string) => ({
    "registry/service.yaml":
      registry("")["registry/service.yaml"]?.replace(
        ", slug: string?}",
        `}, dropped: {slug: {as: ${as}}}`,
      ) ?? "",
  });
  await expect(testProject(files("x"), projects[0])).rejects.toThrow(
    "OPW092 no two notes have the same slug",
  );
  (await testProject(files("null"), projects[0])).remove();
});
