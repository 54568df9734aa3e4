// Fields whose values become of another kind of JSON, with nothing that makes the new ones: the migration counts what doesn't fit,
// on each engine alike. And fields that come back under a unique rule that nobody declares any more.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (type: string, more = ""): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, type: {${type}}${more}}
`,
});
const mixed = "{anyOf: [{type: string}, {type: integer}]}";

let projects: Readonly<Record<string, TestProject>> = {};
beforeAll(async () => {
  const before = await testProject(
    registry(`flag: boolean, size: integer, tag: string, tags: "string[]", some: ${mixed}`),
  );
  const after = await testProject(
    registry('flag: integer, size: boolean, tag: "string[]", tags: string, some: string'),
    before,
  );
  const coded = await testProject(registry("name: string, code: string?", ", unique: [[code]]"));
  const without = await testProject(registry("name: string"), coded);
  const again = await testProject(
    registry("name: string, code: string", ", defaults: {code: x}"),
    without,
  );
  const loud = await testProject({
    ...registry("email: string", ", unique: [[email]]"),
    "registry/lower.ts": "export const lower = (email: string): string => email.toLowerCase();\n",
  });
  const quiet = await testProject(
    {
      ...registry('email: {type: string, from: "registry/lower.ts#lower"}', ", unique: [[email]]"),
      "registry/lower.ts": "export const lower = (email: string): string => email.toLowerCase();\n",
    },
    loud,
  );
  projects = { before, after, coded, without, again, loud, quiet };
});
afterAll(() => Object.values(projects).forEach((project) => project.remove()));

const start = (version: string, ...given: Parameters<TestProject["start"]>): Promise<TestService> =>
  (projects[version] as TestProject).start(...given);

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("values of another kind are counted, whichever kind that is", async () => {
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await start("before", same);
        const body = { flag: true, size: 5, tag: "hello", tags: ["a"], some: 7 };
        expect((await old.post("/notes", body)).status).toBe(201);
        const fits = { flag: true, size: 5, tag: "hello", tags: ["a"], some: "seven" };
        expect((await old.post("/notes", fits)).status).toBe(201);
        const fault: unknown = await projects["after"]
          ?.start(same)
          .catch((error: unknown) => error);
        const { message } = (fault as Error).cause as Error;
        for (const said of [
          'notes.flag as it is declared (2 rows with flag "no number")',
          'notes.size as it is declared (2 rows with size "no boolean")',
          'notes.tag as it is declared (2 rows with tag "no list")',
          'notes.tags as it is declared (2 rows with tags "no text")',
          'notes.some as it is declared (1 row with some "no text")',
        ])
          expect(message).toContain(said);
        await old.stop();
      } finally {
        await drop();
      }
    });

    test("rows that clash once they are made anew stay, and keep no other from it", async () => {
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await start("loud", same);
        const names = ["A@x", "a@x", "bob@x", "carl@x"];
        for (const email of names) expect((await old.post("/notes", { email })).status).toBe(201);
        await old.stop();
        const said: (readonly [object, string])[] = [];
        const note = (fields: object, text: string): void => void said.push([fields, text]);
        const log = { debug: () => undefined, info: note, warn: note, error: note };
        const service = await start("quiet", same, { log });
        const found = async (email: string): Promise<number> =>
          (
            (await service.post("/notes/list", { filters: { $values: { email } } })).body as {
              hits: readonly object[];
            }
          ).hits.length;
        const patient = { timeout: 30_000 };
        await expect.poll(() => found("bob@x"), patient).toBe(1);
        expect(await found("carl@x")).toBe(1);
        expect(await found("a@x")).toBe(1);
        const told = said.filter(([, text]) => /can't be brought up/.test(text));
        expect(told).toMatchObject([[{ table: "notes", count: 1, ids: [expect.any(String)] }, {}]]);
        const { hits } = (await service.post("/notes/list", {})).body as {
          hits: readonly { email: string }[];
        };
        expect(hits.map(({ email }) => email).toSorted()).toEqual([
          "a@x",
          "a@x",
          "bob@x",
          "carl@x",
        ]);
        await service.stop();
      } finally {
        await drop();
      }
    });

    test("a field that comes back isn't held to the unique rule of the one that is gone", async () => {
      const { same, drop } = await sharedDatabase(engine);
      try {
        for (const version of ["coded", "without"]) {
          const service = await start(version, same);
          for (const name of ["a", "b"])
            expect((await service.post("/notes", { name })).status).toBe(201);
          await service.stop();
        }
        const service = await start("again", same);
        for (const name of ["c", "d"])
          expect((await service.post("/notes", { name })).status).toBe(201);
        const { hits } = (
          await service.post("/notes/list", { filters: { $values: { code: "x" } } })
        ).body as { hits: readonly object[] };
        expect(hits).toHaveLength(6);
        await service.stop();
      } finally {
        await drop();
      }
    });
  });
