// `server.js migrate --plan`: what is pending, what it locks, for how many rows; whoever would lock a large table is told by 1.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyMigrations, type MigrationTarget } from "../../../runtime/engines/sql/migrations.js";
import { largeRows, planMigrations } from "../../../runtime/engines/sql/migration-plan.js";
import { openDatabase } from "../../../runtime/server/engines.js";
import { engines, type TestEngine } from "../../support/engines.js";
import { fill } from "../../support/many-rows.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type Version } from "../../support/version-process.js";

const registry = (further: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    guard: open
    type: {text: string}
${further}`,
});

let projects: readonly TestProject[];
let versions: readonly [Version, Version];
beforeAll(async () => {
  const first = await testProject(registry(""));
  const second = await testProject(registry("    indexes: [[text]]\n"), first);
  projects = [first, second];
  versions = [await versionOf(first), await versionOf(second)];
});
afterAll(() => projects.forEach((project) => project.remove()));

/** So many rows, by the engine's own means. */
function filled({ name }: TestEngine, table: string, count: number): string {
  const insert = `INSERT INTO ${table} ("id") `;
  return name === "sqlite"
    ? `${insert}WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n;`
    : `${insert}SELECT i FROM generate_series(1, ${count}) i;`;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const isSqlite = engine.name === "sqlite";

    test("an operator reads the plan, and nothing is done", async () => {
      const { url, drop } = await engine.create();
      const environment = { DATABASE_URL: url, LOG_LEVEL: "error" };
      const [first, second] = versions;
      try {
        const fresh = first.run(environment, "migrate", "--plan");
        expect([fresh.code, fresh.stderr]).toEqual([0, ""]);
        expect(fresh.stdout).toContain(`CREATE TABLE "notes" (`);
        expect(fresh.stdout).toContain("no table of 100000 rows or more is locked for long\n");
        expect(first.run(environment, "migrate").code).toBe(0);
        expect(first.run(environment, "migrate", "--plan").stdout).toBe("nothing to migrate\n");

        const { code, stdout } = second.run(environment, "migrate", "--plan");
        expect(code).toBe(0);
        expect(stdout).toMatch(/^0002_notes\.sql\n/);
        expect(stdout).toContain(
          isSqlite
            ? "    -- the write lock on notes: goes through about 0 rows, writers wait\n"
            : "    -- SHARE UPDATE EXCLUSIVE on notes: goes through about 0 rows, nobody waits\n",
        );
        expect(second.run(environment, "migrate", "--plan").stdout).toBe(stdout);
        expect(second.run(environment, "migrate", "--plans").code).toBe(2);
      } finally {
        await drop();
      }
    });

    describe("over a large table, and a small one", () => {
      let database: Awaited<ReturnType<typeof openDatabase>>;
      let dropAll: () => Promise<void>;
      let url: string;
      const folder = mkdtempSync(join(tmpdir(), "opwright-plan-"));
      const at = join(folder, "migrations", engine.name);
      const write = (name: string, text: string): void => writeFileSync(join(at, name), text);
      beforeAll(async () => {
        const fresh = await engine.create();
        url = fresh.url;
        dropAll = fresh.drop;
        database = await openDatabase(url);
        mkdirSync(at, { recursive: true });
        const tables = ["large", "small"].map((name) => `CREATE TABLE "${name}" ("id" integer);\n`);
        const rows = [filled(engine, `"large"`, largeRows), filled(engine, `"small"`, 10)];
        write("0001_initial.sql", [...tables, ...rows].join("\n"));
        await applyMigrations(database, folder);
      });
      afterAll(async () => {
        await database.close();
        await dropAll();
        rmSync(folder, { recursive: true });
      });

      /** Tables that a statement would lock for long. */
      const lockedBy = async (statement: string): Promise<readonly string[]> => {
        write("0002_next.sql", statement);
        const target: MigrationTarget = database;
        const steps = await planMigrations(target, folder);
        return steps.flatMap(({ effects }) =>
          effects.filter(({ locksLarge }) => locksLarge).map(({ table }) => table),
        );
      };

      const always = [
        [`CREATE INDEX "by_id" ON "large" ("id");`, ["large"]],
        [`CREATE INDEX "by_id" ON "small" ("id");`, []],
        [`CREATE TABLE "new" ("id" integer); CREATE INDEX "by_id" ON "new" ("id");`, []],
        [`ALTER TABLE "large" ADD COLUMN "shape" INTEGER NOT NULL DEFAULT 1;`, []],
        [`UPDATE "large" SET "id" = 0;`, ["large"]],
        [`-- CREATE INDEX "by_id" ON "large" ("id");\nDROP INDEX IF EXISTS "by;id";`, []],
        [`REWRITE "large" ANEW;`, ["large"]],
      ] as const;
      const ofPostgres = [
        [`-- online\nCREATE INDEX CONCURRENTLY "by_id" ON "large" ("id");`, []],
        [`ALTER TABLE "large" ADD COLUMN "at" text DEFAULT clock_timestamp();`, ["large"]],
        [`ALTER TABLE "large" ALTER COLUMN "id" TYPE bigint;`, ["large"]],
        [`ALTER TABLE "large" ALTER COLUMN "id" SET NOT NULL;`, ["large"]],
        [`ALTER TABLE "large" ADD CONSTRAINT "c" CHECK ("id" > 0) NOT VALID;`, []],
        [`ALTER TABLE "large" VALIDATE CONSTRAINT "c";`, []],
        [`DROP TABLE IF EXISTS "large";`, []],
        [
          `DO $$ BEGIN\n  CREATE EXTENSION IF NOT EXISTS pg_trgm;\n  CREATE INDEX "i" ON "large" USING gin ("id");\nEXCEPTION WHEN undefined_file THEN\n  RAISE NOTICE 'no: %', SQLERRM;\nEND $$;`,
          ["large"],
        ],
      ] as const;
      test.each([...always, ...(isSqlite ? [] : ofPostgres)])("%s", async (statement, expected) => {
        expect(await lockedBy(statement)).toEqual(expected);
      });

      test("an index that is dropped says whose table it locks", async () => {
        await database.migrate(({ transaction }) =>
          transaction(({ exec }) =>
            exec(`CREATE INDEX IF NOT EXISTS "of_small" ON "small" ("id")`),
          ),
        );
        write("0002_next.sql", `DROP INDEX "of_small";\nDROP INDEX IF EXISTS "of_none";\n`);
        const steps = await planMigrations(database, folder);
        const lock = isSqlite ? "the write lock" : "ACCESS EXCLUSIVE";
        expect(
          steps.map(({ effects }) =>
            effects.map((effect) => [effect.table, effect.lock, effect.rows]),
          ),
        ).toEqual([[["small", lock, 10]], [["of_none", lock, null]]]);
      });

      test("the command ends with 1 where it would be locked", async () => {
        const [first] = projects;
        if (first === undefined) throw new Error("there is no version");
        const { project, environment } = await withIndex(first);
        const { code, stdout } = (await versionOf(project)).run(environment, "migrate", "--plan");
        const verdict = isSqlite
          ? "locked for long: notes (100000 rows or more)"
          : "no table of 100000 rows or more is locked for long";
        expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([isSqlite ? 1 : 0, verdict]);
        project.remove();
      });

      /** A version that adds an index to notes, of which there are many already. */
      const withIndex = async (first: TestProject) => {
        const { url: own, drop } = await engine.create();
        const environment = { DATABASE_URL: own, LOG_LEVEL: "error" };
        versions[0].run(environment, "migrate");
        await fill(engine, own, {
          table: "notes",
          count: largeRows,
          body: "'{}'",
          tenant: "default",
        });
        ends.push(drop);
        return {
          project: await testProject(registry("    indexes: [[text]]\n"), first),
          environment,
        };
      };
      const ends: (() => Promise<void>)[] = [];
      afterAll(async () => {
        for (const end of ends) await end();
      });
    });
  });
}
