// Fields that clients must send, and that documents stored before don't have (evolution.md "Require").
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (type: string, further = ""): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, history: true, type: {${type}}${further}}
`,
});

const indexed = ", indexes: [[priority]]";
const first = registry("title: string, place: string?");
const second = registry(
  'title: string, place: string?, priority: {enum: [low, high], former: low}, due: {type: string, format: date-time, former: "2025-01-01T01:00:00+01:00"}',
  indexed,
);
/** A migration knows the value, so nobody has to say it any more. */
const third = registry(
  "title: string, place: string?, priority: [low, high], due: date-time",
  indexed,
);

let projects: readonly TestProject[] = [];
beforeAll(async () => {
  const made: TestProject[] = [];
  for (const files of [first, second, third]) made.push(await testProject(files, made.at(-1)));
  projects = made;
});
afterAll(() => projects.forEach((project) => project.remove()));

const former = { priority: "low", due: "2025-01-01T00:00:00.000Z" };
const given = { priority: "high", due: "2026-01-01T00:00:00.000Z" };

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
        stored ??= (await service.post("/notes", { title: "old" })).body;
      }
      services = started;
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    const at = (version: number): TestService => services[version] as TestService;
    const got = async (version: number, id: string): Promise<Answer["body"]> =>
      (await at(version).call("GET", `/notes/${id}`)).body;
    const count = async (version: number, priority: string): Promise<number> =>
      (await at(version).post("/notes/list", { filters: { $values: { priority } } })).body.count;

    test.each([1, 2])(
      "stored documents have the former value, in queries as well (%i)",
      async (version) => {
        expect(await got(version, stored.id)).toMatchObject({ title: "old", ...former });
        const before = await count(version, "low");
        const beside = (await at(0).post("/notes", { title: "beside" })).body;
        expect(await got(version, beside.id)).toMatchObject(former);
        expect(await count(version, "low")).toBe(before + 1);
      },
    );

    test.each([1, 2])("whoever creates a document has to send the field (%i)", async (version) => {
      expect((await at(version).post("/notes", { title: "new" })).status).toBe(422);
      const made = await at(version).post("/notes", { title: "new", ...given });
      expect(made).toMatchObject({ status: 201, body: given });
      const patch = { body: { title: "changed" } };
      const { id } = made.body;
      expect((await at(0).call("PATCH", `/notes/${id}?rev=1`, patch)).status).toBe(200);
      expect(await got(version, id)).toMatchObject({ title: "changed", ...given });
    });
  });
}

test("clients are told that the field is required, and nothing of what it was", () => {
  for (const { root } of projects.slice(1)) {
    const openapi = readFileSync(join(root, "generated/openapi.json"), "utf8");
    expect(openapi).not.toContain("former");
    expect(JSON.parse(openapi).components.schemas.NotesCreate.required).toContain("priority");
  }
});

test("an entry of which nothing comes is warned of", async () => {
  const again = await testProject(
    registry("title: {type: string, former: none}, place: string?"),
    projects[0],
  );
  const spent = ({ warnings }: TestProject): readonly string[] =>
    warnings.filter((warning) => warning.startsWith("OPW093"));
  expect(spent(again)).toEqual([
    "OPW093 every row of notes has title, so none takes its former value",
  ]);
  again.remove();
  expect(projects.flatMap(spent)).toEqual([]);
});

test("without a former value, a field that documents don't have is refused", async () => {
  await expect(
    testProject(registry("title: string, place: string?, priority: [low, high]"), projects[0]),
  ).rejects.toThrow(
    "OPW035 documents of notes that are stored already have no priority; say with `former`",
  );
});

test.each([
  ["does not fit", "rank: {type: integer, former: low}", 'OPW031 the former value "low" of rank'],
  [
    "stands within an object",
    "at: {type: object, properties: {x: {type: integer, former: 1}}, additionalProperties: false}",
    "OPW039 notes.at.x cannot have a former value",
  ],
])("a former value that %s is refused", async (_what, field, message) => {
  await expect(
    testProject(registry(`title: string, place: string?, ${field}`), projects[0]),
  ).rejects.toThrow(message);
});
