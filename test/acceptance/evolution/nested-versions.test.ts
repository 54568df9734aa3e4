// Members within members that only one of two versions knows, while both go on beside each other (evolution.md "A row knows
// its shape"): attack 197.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { OpenApiDocument } from "../../property/document/open-api.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { faultOf } from "../../support/rollout-load.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (types: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types:
${types}
documents:
  notes:
    type:
      title: string
      place: Place
      lines: Line[]
      tree: Node?
      form: {oneOf: [{$ref: Circle}, {$ref: Square}]}
      by: {type: object, additionalProperties: {$ref: Place}}
    defaults: {by: {}}
    guard: open
    history: true
`,
});

const first = registry(`  Place: {city: string, street: string?}
  Line: {sku: string, at: Place?}
  Node: {label: string, children: "Node[]"}
  Circle: {kind: [circle], size: number}
  Square: {kind: [square], size: number, angle: number?}`);
/** Each type has a member more, and \`street\` is gone. */
const second = registry(`  Place: {city: string, zip: string?}
  Line: {sku: string, at: Place?, discount: integer?}
  Node: {label: string, children: "Node[]", color: string?}
  Circle: {kind: [circle], size: number, angle: number?}
  Square: {kind: [square], size: number, angle: number?, round: boolean?}`);

let projects: readonly TestProject[] = [];
beforeAll(async () => {
  const one = await testProject(first);
  projects = [one, await testProject(second, one)];
});
afterAll(() => projects.forEach((project) => project.remove()));

const known = {
  title: "a",
  place: { city: "Rome" },
  lines: [{ sku: "x", at: { city: "Oslo" } }, { sku: "y" }],
  tree: { label: "root", children: [{ label: "leaf", children: [] }] },
  form: { kind: "circle", size: 1 },
  by: { ada: { city: "Kyiv" } },
};
/** The same with what only the second version knows. */
const whole = {
  title: "a",
  place: { city: "Rome", zip: "00118" },
  lines: [
    { sku: "x", at: { city: "Oslo", zip: "0150" }, discount: 5 },
    { sku: "y", discount: 7 },
  ],
  tree: {
    label: "root",
    color: "red",
    children: [{ label: "leaf", children: [], color: "green" }],
  },
  form: { kind: "circle", size: 1, angle: 90 },
  by: { ada: { city: "Kyiv", zip: "01001" } },
};

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
        started.push(await project.start(database.same));
        // The first stores before the second is there.
        stored ??= (
          await started[0]?.post("/notes", {
            ...known,
            place: { city: "Rome", street: "Via Appia" },
          })
        )?.body;
      }
      // The first again, as after a rollback.
      services = [...started, (await projects[0]?.start(database.same)) as TestService];
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    const at = (version: number): TestService => services[version] as TestService;
    /** What a version answers; it must be what its own document says. */
    const got = async (version: number, id: string): Promise<Answer["body"]> => {
      const { status, body } = await at(version).call("GET", `/notes/${id}`);
      expect(status).toBe(200);
      const document = new OpenApiDocument(projects[version % 2]?.openapi);
      expect(
        faultOf(document, "notes.get", { status, text: JSON.stringify(body) }),
      ).toBeUndefined();
      return body;
    };
    const patched = async (
      version: number,
      { id, rev }: Answer["body"],
      body: object,
    ): Promise<number> =>
      (await at(version).call("PATCH", `/notes/${id}?rev=${rev}`, { body })).status;

    test.each([0, 2])(
      "an older version answers what it knows, and its patch leaves the rest (%i)",
      async (older) => {
        const made = (await at(1).post("/notes", whole)).body;
        expect(made).toMatchObject(whole);
        expect(await got(older, made.id)).toMatchObject(known);
        expect(JSON.stringify(await got(older, made.id))).not.toMatch(/zip|discount|color|angle/);
        expect(await patched(older, made, { title: "b" })).toBe(200);
        expect(await got(1, made.id)).toMatchObject({ ...whole, title: "b", rev: 2 });
        const { body } = await at(older).post("/notes/list", { sorts: { id: "desc" } });
        expect(body.hits[0]).toMatchObject({ ...known, title: "b" });
      },
    );

    test("a change by an older version within an object leaves its other members", async () => {
      const made = (await at(1).post("/notes", whole)).body;
      const change = {
        place: { city: "Bern" },
        tree: { label: "stem" },
        by: { ada: { city: "Lviv" }, eve: { city: "Riga" } },
        form: { size: 2 },
        lines: [{ sku: "new" }, known.lines[0], { sku: "y", at: { city: "Rome" } }],
      };
      expect(await patched(0, made, change)).toBe(200);
      const after = await got(1, made.id);
      expect(after).toMatchObject({
        place: { city: "Bern", zip: "00118" },
        tree: { ...whole.tree, label: "stem" },
        by: { ada: { city: "Lviv", zip: "01001" }, eve: { city: "Riga" } },
        form: { kind: "circle", size: 2, angle: 90 },
      });
      // An element that is as it was keeps what it had, wherever it stands now; one that was changed is the older version's.
      expect(after.lines[1]).toEqual(whole.lines[0]);
      expect(JSON.stringify(after.lines)).not.toContain('"discount":7');
      // Another form has none of what belonged to the one before.
      const square = { kind: "square", size: 1 };
      expect(await patched(0, after, { form: square })).toBe(200);
      expect((await got(1, made.id)).form).toEqual(square);
      // What neither knows to be there can be set, and taken away again.
      const set = await got(0, made.id);
      expect(await patched(0, set, { form: { angle: 3 } })).toBe(200);
      expect((await got(1, made.id)).form).toEqual({ ...square, angle: 3 });
      expect(await patched(0, { ...set, rev: set.rev + 1 }, { form: { angle: null } })).toBe(200);
      expect((await got(1, made.id)).form.angle ?? null).toBeNull();
    });

    test("a member within that the newer version has dropped is in none of its answers", async () => {
      expect((await got(0, stored.id)).place).toEqual({ city: "Rome", street: "Via Appia" });
      expect((await got(1, stored.id)).place).toEqual({ city: "Rome" });
      expect(await patched(1, stored, { title: "next" })).toBe(200);
      const next = await got(0, stored.id);
      expect(await patched(0, next, { place: { street: "Via Sacra" } })).toBe(200);
      expect((await got(1, stored.id)).place).toEqual({ city: "Rome" });
      expect(await patched(1, { ...next, rev: next.rev + 1 }, { place: { zip: "1" } })).toBe(200);
      expect((await got(0, stored.id)).place).toEqual({ city: "Rome" });
    });

    test("a revision that the newer version has stored is merged with an older one's patch", async () => {
      const made = (await at(1).post("/notes", whole)).body;
      expect(await patched(1, made, { place: { zip: "2" } })).toBe(200);
      expect(await patched(0, made, { place: { city: "Bern" } })).toBe(200);
      expect((await got(1, made.id)).place).toEqual({ city: "Bern", zip: "2" });
    });
  });
}

test("only the second version has a step more, which changes no table", () => {
  const steps = projects.map(({ root }) => {
    const file = join(root, "generated/migrations/storage.json");
    return JSON.parse(readFileSync(file, "utf8")).tables.notes.shape.steps;
  });
  expect(steps).toEqual([[], [{ adds: {}, drops: [], comesBack: true }]]);
});
