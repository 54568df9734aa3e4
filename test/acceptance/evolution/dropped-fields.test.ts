// Fields that the next version no longer has: rows keep them for the version before (evolution.md "Drop a field"). Attack 198.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { OpenApiDocument } from "../../property/document/open-api.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { faultOf } from "../../support/rollout-load.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (type: string, further = ""): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, history: true, type: {${type}}${further}}
`,
});

const whole = "title: string, priority: {type: integer, maximum: 9}, state: [open, done]";
const first = registry(whole);
/** The values are called otherwise before the field goes. */
const second = registry(
  "title: string, priority: {type: integer, maximum: 9}, state: [open, {value: over, was: done}]",
);
const third = registry("title: string", ", dropped: {priority: {as: 0}, state: {as: over}}");
const last = registry("title: string");

let projects: readonly TestProject[] = [];
beforeAll(async () => {
  const made: TestProject[] = [];
  for (const files of [first, second, third, last])
    made.push(await testProject(files, made.at(-1)));
  projects = made;
});
afterAll(() => projects.forEach((project) => project.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let drop: () => Promise<void>;
    let services: readonly TestService[] = [];
    let stored: Answer["body"];
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      drop = database.drop;
      const started: TestService[] = [];
      for (const project of projects) {
        const service = await project.start(database.same);
        started.push(service);
        const old = { title: "old", priority: 7, state: "done" };
        stored ??= (await service.post("/notes", old)).body;
      }
      services = started;
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    const at = (version: number): TestService => services[version] as TestService;
    const got = async (version: number, id: string): Promise<Answer["body"]> => {
      const { status, body } = await at(version).call("GET", `/notes/${id}`);
      const document = new OpenApiDocument(projects[version]?.openapi);
      expect(
        faultOf(document, "notes.get", { status, text: JSON.stringify(body) }),
        JSON.stringify(body),
      ).toBeUndefined();
      return body;
    };

    test("the versions before find the value in what the next one stores", async () => {
      const { id } = (await at(2).post("/notes", { title: "new" })).body;
      expect(await got(0, id)).toMatchObject({ title: "new", priority: 0, state: "done" });
      expect(await got(1, id)).toMatchObject({ title: "new", priority: 0, state: "over" });
      const asked = { filters: { $values: { priority: 0, state: "over" } } };
      expect((await at(1).post("/notes/list", asked)).body.count).toBeGreaterThan(0);
      const { title: _title, ...base } = await got(2, id);
      expect(Object.keys(base).sort()).toEqual(["created_at", "id", "last_update_at", "rev"]);
      expect(
        (await at(0).call("PATCH", `/notes/${id}?rev=1`, { body: { priority: 3 } })).status,
      ).toBe(200);
      expect(
        (await at(2).call("PATCH", `/notes/${id}?rev=2`, { body: { title: "b" } })).status,
      ).toBe(200);
      expect(await got(0, id)).toMatchObject({ title: "b", priority: 3, rev: 3 });
    });

    test("values stored by a previous version are kept", async () => {
      const { body } = await at(2).call("PATCH", `/notes/${stored.id}?rev=1`, {
        body: { title: "mine" },
      });
      expect(Object.keys(body)).not.toContain("priority");
      expect(await got(0, stored.id)).toMatchObject({ title: "mine", priority: 7, state: "done" });
      const many = [{ title: "x" }, { title: "y" }];
      for (const body of many) expect((await at(2).post("/notes", body)).status).toBe(201);
      for (const { id } of (await at(0).post("/notes/list", {})).body.hits)
        expect((await got(0, id)).priority).toBeTypeOf("number");
    });

    test("the version after that leaves nothing of it, beside the one that kept it", async () => {
      const { id } = (await at(3).post("/notes", { title: "last" })).body;
      expect((await got(2, id)).title).toBe("last");
      expect(
        (await at(2).call("PATCH", `/notes/${id}?rev=1`, { body: { title: "kept" } })).status,
      ).toBe(200);
      const after = await got(3, id);
      expect(Object.keys(after)).not.toContain("priority");
      expect((await got(3, stored.id)).title).toBe("mine");
      expect(
        (await at(3).call("PATCH", `/notes/${id}?rev=2`, { body: { title: "c" } })).status,
      ).toBe(200);
      expect((await got(2, id)).title).toBe("c");
    });
  });
}

test("dropping takes no migration, and the step comes with the release after it", () => {
  const steps = projects.map(({ root }) => {
    const file = join(root, "generated/migrations/storage.json");
    return JSON.parse(readFileSync(file, "utf8")).tables.notes.shape.steps;
  });
  expect(steps).toEqual([[], [], [], [{ adds: {}, drops: ["priority", "state"] }]]);
});

test("an entry for what rows no longer have is warned of", async () => {
  const again = await testProject(third, projects[3]);
  expect(again.warnings.filter((warning) => warning.startsWith("OPW093"))).toEqual(
    ["priority", "state"].map(
      (field) => `OPW093 rows of notes have no ${field} any more: take it out of \`dropped\``,
    ),
  );
  again.remove();
});

test.each([
  [
    "that the document still has",
    whole,
    "title: {as: a}",
    "OPW092 title is still a field of notes",
  ],
  [
    "that never was",
    "title: string, state: [open, done]",
    "prioriti: {as: 0}",
    "OPW092 notes had no field prioriti",
  ],
  [
    "that is called otherwise now",
    "title: string, state: [open, done], rank: {type: integer, was: priority}",
    "priority: {as: 0}",
    "OPW092 priority is what rank was called",
  ],
  [
    "above what it might be",
    "title: string, state: [open, done]",
    "priority: {as: 10}",
    "OPW031 the value 10 of priority",
  ],
  [
    "of another type",
    "title: string, state: [open, done]",
    "priority: {as: low}",
    'OPW031 the value "low" of priority',
  ],
  [
    "that is none of its values",
    "title: string, priority: {type: integer, maximum: 9}",
    "state: {as: over}",
    'OPW031 the value "over" of state',
  ],
])("a dropped field %s is refused", async (_what, type, dropped, message) => {
  await expect(testProject(registry(type, `, dropped: {${dropped}}`), projects[0])).rejects.toThrow(
    message,
  );
});
