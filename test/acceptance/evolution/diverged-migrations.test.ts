// A version whose migrations can't follow those that its database has applied: it says so before it changes anything, and doesn't
// start. An older version, back after a rollback, does (attack 184).
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type Version } from "../../support/version-process.js";

const registry = (further: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, type: {text: string}}
${further}`,
});

const names = ["first", "theirs", "mine", "edited"] as const;
let projects: readonly TestProject[] = [];
let versions: Readonly<Record<(typeof names)[number], Version>>;
beforeAll(async () => {
  const first = await testProject(registry(""));
  const own = (name: string): Promise<TestProject> =>
    testProject(registry(`  ${name}: {guard: open, type: {text: string}}\n`), first);
  const edited = await testProject(registry(""), first);
  for (const engine of ["sqlite", "postgres"]) {
    const script = join(edited.root, "generated/migrations", engine, "0001_initial.sql");
    appendFileSync(script, "-- edited\n");
  }
  projects = [first, await own("theirs"), await own("mine"), edited];
  const made = await Promise.all(projects.map((project) => versionOf(project)));
  versions = Object.fromEntries(names.map((name, at) => [name, made[at]])) as typeof versions;
});
afterAll(() => projects.forEach((project) => project.remove()));

const merge =
  "merge the branch that the database was migrated by, run `opwright migrations squash`";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test.each([
      ["mine", "0002_theirs.sql was applied to this database, and this version doesn't have it"],
      ["edited", "0001_initial.sql has changed after it was applied to this database"],
    ] as const)("%s neither migrates nor starts, and says why", async (name, why) => {
      const { url, drop } = await engine.create();
      const environment = { DATABASE_URL: url, LOG_LEVEL: "error" };
      try {
        expect(versions.theirs.run(environment, "migrate").code).toBe(0);

        const plan = versions[name].run(environment, "migrate", "--plan");
        expect([plan.code, plan.stdout]).toEqual([1, expect.stringContaining(`${why}\n`)]);
        expect(plan.stdout).toContain(`nothing would be done: ${merge}`);
        for (const [further, ...args] of [
          [{}, "migrate"],
          [{ MIGRATE: "auto" }],
          [{ MIGRATE: "off" }],
        ] as const) {
          const { code, stdout, stderr } = versions[name].run(
            { ...environment, ...further },
            ...args,
          );
          expect(code).not.toBe(0);
          expect(stdout + stderr).toContain(why);
        }
        // The version that migrated it goes on.
        expect(versions.theirs.run(environment, "migrate", "--plan").stdout).toBe(
          "nothing to migrate\n",
        );
      } finally {
        await drop();
      }
    });

    test("a version from before starts on what a later one has migrated", async () => {
      const { url, drop } = await engine.create();
      const environment = { DATABASE_URL: url, LOG_LEVEL: "info", MIGRATE: "auto" };
      try {
        expect(versions.theirs.run(environment, "migrate").code).toBe(0);
        expect(versions.first.run(environment, "migrate", "--plan")).toMatchObject({
          code: 0,
          stdout: "nothing to migrate\n",
        });
        const { child, says, exited } = versions.first.spawn(environment);
        await says(/http:\/\/[\w.]+:\d+/);
        child.kill("SIGTERM");
        expect(await exited).toBe(0);
      } finally {
        await drop();
      }
    });
  });
}
