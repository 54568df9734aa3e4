// Values and members that a version reads before the next one writes them (evolution.md "Widen").
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { OpenApiDocument } from "../../property/document/open-api.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { faultOf } from "../../support/rollout-load.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (values: string, member: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types:
  State: [${values}]
  Line: {sku: string, state: State${member}}
documents:
  notes:
    guard: open
    upsert: true
    unique: [[title]]
    bulk: {max: 5}
    type: {title: string, state: State, lines: "Line[]"${member}}
    defaults: {state: open, lines: []}
`,
});

const first = registry("open, done", "");
const second = registry(
  "open, done, {value: paused, since: next}",
  ', weight: {type: [integer, "null"], since: next}',
);
const third = registry("open, done, paused", ", weight: integer?");

let projects: readonly TestProject[] = [];
beforeAll(async () => {
  const made: TestProject[] = [];
  for (const files of [first, second, third]) made.push(await testProject(files, made.at(-1)));
  projects = made;
});
afterAll(() => projects.forEach((project) => project.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let drop: () => Promise<void>;
    let services: readonly TestService[] = [];
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      drop = database.drop;
      const started: TestService[] = [];
      // The second again, as after a rollback of the third.
      for (const project of [projects[1], projects[2], projects[1]])
        started.push((await project?.start(database.same)) as TestService);
      services = started;
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    const at = (place: number): TestService => services[place] as TestService;
    const got = async (place: number, id: string): Promise<Answer["body"]> => {
      const { status, body } = await at(place).call("GET", `/notes/${id}`);
      const document = new OpenApiDocument(projects[place % 2 === 0 ? 1 : 2]?.openapi);
      expect(
        faultOf(document, "notes.get", { status, text: JSON.stringify(body) }),
        JSON.stringify(body),
      ).toBeUndefined();
      return body;
    };

    test.each([
      ["a value", { state: "paused" }],
      ["a value within a list", { lines: [{ sku: "a", state: "paused" }] }],
      ["a member", { weight: 3 }],
      ["a member within a list", { lines: [{ sku: "a", state: "open", weight: 3 }] }],
    ])("%s is read, and not written before the next version", async (_what, later) => {
      const title = `note ${JSON.stringify(later)}`;
      const { status, body } = await at(1).post("/notes", { title, ...later });
      expect(status).toBe(201);
      const { id } = body;
      for (const place of [0, 2]) {
        expect(await got(place, id)).toMatchObject(later);
        const created = await at(place).post("/notes", { title: "other", ...later });
        expect([created.status, created.body.code]).toEqual([422, "core.validation"]);
        const many = { items: [{ title: "other", ...later }] };
        // Answered item by item.
        await at(place).post("/notes/create_many", many);
        const either = { by: ["title"], document: { title: "other", ...later } };
        expect((await at(place).post("/notes/upsert", either)).status).toBe(422);
        const { rev } = await got(place, id);
        const path = `/notes/${id}?rev=${rev}`;
        expect((await at(place).call("PATCH", path, { body: later })).status).toBe(422);
        // What the next version has written can be changed all the same.
        const patched = await at(place).call("PATCH", path, {
          body: { title: `${title} ${place}` },
        });
        expect(patched).toMatchObject({ status: 200, body: { data: later } });
      }
      const others = { filters: { $values: { title: "other" } } };
      expect((await at(1).post("/notes/list", others)).body.count).toBe(0);
      expect(await got(1, id)).toMatchObject({ ...later, title: `${title} 2` });
    });

    test("queries of the version that only reads it find it", async () => {
      expect((await at(1).post("/notes", { title: "asked", state: "paused" })).status).toBe(201);
      const asked = { filters: { $values: { state: "paused", title: "asked" } } };
      expect((await at(0).post("/notes/list", asked)).body.count).toBe(1);
    });
  });
}

test("inputs lack what answers have", () => {
  const openapi = readFileSync(join(projects[1]?.root ?? "", "generated/openapi.json"), "utf8");
  const { schemas } = JSON.parse(openapi).components;
  expect(JSON.stringify(schemas["NotesDocument"])).toContain("weight");
  expect(JSON.stringify(schemas["State"])).toContain("paused");
  for (const input of ["NotesCreate", "NotesPatch"])
    expect(JSON.stringify(schemas[input])).not.toMatch(/weight|paused|schemas\/(?:State|Line)/);
  expect(openapi).not.toContain("x-since");
});

test.each([
  [
    "as a default",
    "state: [open, {value: late, since: next}]",
    ", defaults: {state: late}",
    'OPW031 the default "late" of state',
  ],
  [
    "as the only value",
    "state: [{value: late, since: next}]",
    "",
    "OPW095 all values are written later",
  ],
  [
    "in create",
    "n: {type: integer, default: 1, since: next}",
    ", create: [title, n]",
    "OPW095 n is written from the next version on, and in create",
  ],
  ["where it is required", "n: {type: integer, since: next}", "", "OPW095 n is required"],
])("what is written later is refused %s", async (_what, field, further, message) => {
  const files = {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, type: {title: string, ${field}}${further}}
`,
  };
  await expect(testProject(files)).rejects.toThrow(message);
});
