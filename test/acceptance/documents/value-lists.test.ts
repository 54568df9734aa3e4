// Fields with a list of values that are numbers or booleans are queried as numbers and booleans.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  jobs: {type: {prio: [1, 2, 3], share: [0.5, 1], isOpen: [true]}, guard: open, indexes: [[prio]]}
`,
  });
});
afterAll(() => project.remove());

for (const engine of engines) {
  test.skipIf(!engine.isAvailable)(`on ${engine.name}`, async () => {
    const service = await project.start(engine);
    for (const [prio, share] of [
      [3, 1],
      [1, 0.5],
      [2, 1],
    ])
      await service.post("/jobs", { prio, share, isOpen: true });
    const list = async (body: object) => (await service.post("/jobs/list", body)).body;
    const found = await list({
      filters: { $values: { prio: { $gte: 2 }, share: 1, isOpen: true } },
      sorts: { prio: "asc" },
    });
    expect(found.hits.map(({ prio }: { readonly prio: number }) => prio)).toEqual([2, 3]);
    const refused = await service.post("/jobs", { prio: 4, share: 1, isOpen: true });
    expect([refused.status, refused.body.code]).toEqual([422, "core.validation"]);
    await service.stop();
  });
}

describe("lists of values of several types", () => {
  test("are no field of queries", async () => {
    await expect(
      testProject({
        "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  jobs: {type: {mixed: [a, 1]}, guard: open, indexes: [[mixed]]}
`,
      }),
    ).rejects.toThrow("OPW030");
  });
});
