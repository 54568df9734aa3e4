// Tables that the registry no longer declares: they stay with their rows until somebody asks for a purge.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { cli } from "../../generator/cli.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const registry = (documents: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  pages: {type: {text: string}, guard: open}
${documents}`,
});
const notes = `  notes: {type: {text: string}, guard: open, history: true, indexes: [[text]]}
search:
  finds: {of: notes, text: [text], guard: open}
`;

const made: TestProject[] = [];
const project = async (...given: Parameters<typeof testProject>): Promise<TestProject> => {
  const one = await testProject(...given);
  made.push(one);
  return one;
};
let first: TestProject;
let without: TestProject;
beforeAll(async () => {
  first = await project(registry(notes));
  without = await project(registry(""), first);
});
afterAll(() => made.forEach((version) => version.remove()));

const migrations = ({ root }: TestProject, engine: "sqlite" | "postgres"): readonly string[] => {
  const folder = join(root, "generated/migrations", engine);
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
};

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("rows of a document that is no longer declared are there when it comes back, and gone once they are purged", async () => {
      const { same, drop } = await sharedDatabase(engine);
      /** What `notes` has after versions have been rolled out, one after another. */
      const texts = async (...versions: readonly TestProject[]): Promise<readonly string[]> => {
        for (const version of versions.slice(0, -1)) await (await version.start(same)).stop();
        const service = await versions.at(-1)?.start(same);
        if (service === undefined) throw new Error("no version");
        const { status, body } = await service.post("/notes/list", {});
        await service.stop();
        expect(status).toBe(200);
        return body.hits.map(({ text }: { readonly text: string }) => text);
      };
      try {
        const service = await first.start(same);
        await service.post("/notes", { text: "kept" });
        await service.stop();
        const back = await project(registry(notes), without);
        expect(await texts(without, back)).toEqual(["kept"]);
        const purged = await project(registry(""), back, { purges: true });
        const anew = await project(registry(notes), purged);
        expect(await texts(purged, anew)).toEqual([]);
      } finally {
        await drop();
      }
    });
  });
}

test("a purge drops the tables, their histories and searches, and asks before", async () => {
  const { root } = without;
  const asked = await cli(root, "migrations", "purge");
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("--force")]);
  const before = migrations(without, "postgres").length;
  const { code, stderr } = await cli(root, "migrations", "purge", "--force");
  expect([code, stderr]).toEqual([0, expect.stringContaining("roll it out when")]);
  for (const engine of ["sqlite", "postgres"] as const) {
    const all = migrations(without, engine);
    expect(all).toHaveLength(before + 1);
    expect(all.at(-1)?.match(/^DROP .*$/gm)).toEqual([
      'DROP TABLE IF EXISTS "finds_index_words";',
      'DROP TABLE IF EXISTS "finds_index";',
      'DROP TABLE IF EXISTS "notes";',
      'DROP TABLE IF EXISTS "notes_history";',
    ]);
  }
  expect((await cli(root, "check")).code).toBe(0);
  const again = await cli(root, "migrations", "purge");
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("nothing to purge")]);
});
