// A field of another type by now: a function of the author's makes it of what rows have.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (size: string, state: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string, ${size}, ${state}}
    guard: open
    history: true
    indexes: [[text]]
`,
  "registry/migrations/notes.ts": `/** "3 kg" and null become grams. */
export const toGrams = (weight: string | null): number =>
  weight === null ? 0 : Math.round(Number.parseFloat(weight) * 1000);
export const toTags = (state: string | null): readonly string[] => (state === null ? [] : [state]);
export const toText = (grams: number): string => \`\${grams} g\`;
`,
});

let versions: readonly TestProject[] = [];
beforeAll(async () => {
  const by = "registry/migrations/notes.ts";
  const one = await testProject(
    registry("weight: string?", "state: {type: string, default: none}"),
  );
  const two = await testProject(
    registry(
      `grams: {type: integer, was: weight, from: "${by}#toGrams"}`,
      `state: {type: array, items: {type: string}, from: "${by}#toTags"}`,
    ),
    one,
  );
  // \`was\` and \`from\` have done their work; the next conversion starts from what the last one made.
  const three = await testProject(
    registry(
      `grams: {type: string, from: "${by}#toText"}`,
      `state: {type: array, items: {type: string}}`,
    ),
    two,
  );
  versions = [one, two, three];
});
afterAll(() => versions.forEach((version) => version.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let services: readonly TestService[] = [];
    let drop = async (): Promise<void> => undefined;
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      drop = database.drop;
      const { same } = database;
      const started: TestService[] = [];
      for (const version of versions) started.push(await version.start(same));
      services = started;
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    test("each version reads older rows through its functions, and newer ones without what it cannot know", async () => {
      const [first, second, third] = services;
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      const get = async (service: TestService, id: string): Promise<unknown> =>
        (await service.call("GET", `/notes/${id}`)).body;
      const { id } = (await first.post("/notes", { text: "old", weight: "1.5 kg", state: "open" }))
        .body;
      expect(await get(second, id)).toMatchObject({ text: "old", grams: 1500, state: ["open"] });
      expect(await get(third, id)).toMatchObject({ text: "old", grams: "1500 g", state: ["open"] });
      const empty = (await first.post("/notes", { text: "empty" })).body.id;
      expect(await get(second, empty)).toMatchObject({ grams: 0, state: ["none"] });
      expect(
        (await second.post("/notes/list", { sorts: { text: "asc" } })).body.hits,
      ).toMatchObject([
        { text: "empty", grams: 0 },
        { text: "old", grams: 1500 },
      ]);
      const made = (await second.post("/notes", { text: "new", grams: 20, state: ["a", "b"] }))
        .body;
      expect(await get(first, made.id)).toMatchObject({ text: "new", weight: null, state: "none" });
      expect(await get(third, made.id)).toMatchObject({ grams: "20 g", state: ["a", "b"] });
      // A patch by an older version keeps what only the newer one knows.
      await first.call("PATCH", `/notes/${made.id}?rev=1`, { body: { text: "newer" } });
      expect(await get(second, made.id)).toMatchObject({ rev: 2, text: "newer", grams: 20 });
      // What is written again is found by its new value.
      await second.call("PATCH", `/notes/${id}?rev=1`, { body: { text: "written" } });
      const found = await second.post("/notes/list", { filters: { $values: { grams: 1500 } } });
      expect(found.body.hits).toMatchObject([{ id, rev: 2, text: "written", grams: 1500 }]);
    });
  });
}

describe.each(engines)("$name", (engine) => {
  test.skipIf(!engine.isAvailable)("one field becomes two, each by its function", async () => {
    const named = (type: string): Readonly<Record<string, string>> => ({
      "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  people: {type: {${type}}, guard: open}
`,
      "registry/names.ts": `const part = (at: number) => (name: string | null): string => name?.split(" ")[at] ?? "";
export const first = part(0);
export const last = part(1);
`,
    });
    const whole = await testProject(named("name: string?"));
    const split = await testProject(
      named(
        'first: {type: string, was: name, from: "registry/names.ts#first"}, last: {type: string, was: name, from: "registry/names.ts#last"}',
      ),
      whole,
    );
    const { same, drop } = await sharedDatabase(engine);
    try {
      const old = await whole.start(same);
      const { id } = (await old.post("/people", { name: "Ada Lovelace" })).body;
      const next = await split.start(same);
      const { body } = await next.call("GET", `/people/${id}`);
      expect(body).toMatchObject({ first: "Ada", last: "Lovelace" });
      await Promise.all([old.stop(), next.stop()]);
    } finally {
      for (const version of [whole, split]) version.remove();
      await drop();
    }
  });
});

test("clients are told nothing of what only rows are concerned with", () => {
  const { root } = versions[1] ?? { root: "" };
  for (const file of ["openapi.json", "tools.json", "client/models.ts"])
    expect(readFileSync(join(root, "generated", file), "utf8")).not.toMatch(/x-was|x-from|toGrams/);
});

test("a function that is not there is refused at the document", async () => {
  const [one] = versions;
  await expect(
    testProject(
      registry(
        'weight: {type: integer, from: "registry/migrations/notes.ts#toKilos"}',
        "state: string",
      ),
      one,
    ),
  ).rejects.toThrow(/toKilos/);
});
