// Conditions on other documents use the indexes of references, and what comes along is one statement a level.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { postgresDialect } from "../../../runtime/engines/postgres/dialect.js";
import { sqlDocumentStore } from "../../../runtime/engines/sql/document-store.js";
import type { SqlSession } from "../../../runtime/engines/sql/session.js";
import { sqliteDialect } from "../../../runtime/engines/sqlite/dialect.js";
import type { DocumentOf } from "../../../runtime/ports/document-spec.js";
import { documentStore } from "../../../runtime/ports/documents.js";
import { parsePageRequest } from "../../../runtime/query/list-request.js";
import { allVisible, sortsWithin, within } from "../../../runtime/query/relations.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { benchOf, type Bench } from "../../support/bench-database.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  people: {type: {name: string}, guard: open, tenant: false}
  projects: {type: {name: string, owner: {ref: people}}, guard: open, tenant: false, indexes: [[name]]}
  tasks:
    type: {title: string, code: string, project: {ref: projects}, helper: {ref: people?}}
    guard: open
    tenant: false
    indexes: [[title]]
    unique: [[code]]
  comments: {type: {text: string, task: {ref: tasks}}, guard: open, tenant: false}
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let service: TestService;
    let tasksSpec: DocumentOf<{ document: unknown }>;
    let bench: Bench;
    beforeAll(async () => {
      database = await engine.create();
      const { service: definition } = await project.load("generated/service.ts");
      service = await startTestService(engine, {
        definition,
        folder: `${project.root}/generated`,
        environment: { ...database.environment },
      });
      const spec = async (name: string): Promise<DocumentOf<{ document: unknown }>> =>
        (await project.load(`generated/documents/${name}.ts`))[`${name}Spec`];
      tasksSpec = await spec("tasks");
      const [projects, comments, people] = [
        await spec("projects"),
        await spec("comments"),
        await spec("people"),
      ];
      await service.running.connection.write("test.rows", async ({ transaction }) => {
        const put = async (
          of: DocumentOf<{ document: unknown }>,
          body: object,
        ): Promise<string> => {
          const id = uuidv7();
          const at = "2026-01-01T00:00:00.000Z";
          const base = { id, rev: 1, createdAt: at, lastUpdateAt: at };
          const stored = { ...base, isDeleted: false, ownerId: null, body: JSON.stringify(body) };
          await transaction.of(documentStore).insert(of, "", stored);
          return id;
        };
        const owner = await put(people, { name: "Olga" });
        const homes: string[] = [];
        for (let at = 0; at < 2_000; at += 1)
          homes.push(await put(projects, { name: `project ${at}`, owner }));
        for (let at = 0; at < 4_000; at += 1) {
          const body = {
            title: `task ${at}`,
            code: `c${at}`,
            project: homes[at % 2_000],
            helper: owner,
          };
          const task = await put(tasksSpec, body);
          if (at % 2 === 0) await put(comments, { text: `comment ${at}`, task });
        }
      });
      bench = await benchOf(engine, database.url);
      if (engine.name === "postgres") await bench.query("ANALYZE");
    }, 60_000);
    afterAll(async () => {
      await bench.close();
      await service.stop();
      await database.drop();
    });

    const scanned: string[] = [];
    const planOf = async (body: object): Promise<string> => {
      const plans: string[] = [];
      const all: SqlSession["all"] = async (text, parameters) => {
        plans.push(await bench.explain(text, parameters));
        return [];
      };
      const dialect = engine.name === "sqlite" ? sqliteDialect : postgresDialect;
      const scan: SqlSession["scan"] = async (text, parameters) => {
        scanned.push(text);
        return all(text, parameters);
      };
      const session = {
        dialect,
        all,
        scan,
        run: async () => 0,
        runPipelined: async () => undefined,
      };
      const rules = { fields: tasksSpec.fieldSet, mayListDeleted: false, isRaw: false };
      const request = parsePageRequest(body, rules);
      const seen = {
        ...request,
        filter: within(request.filter, allVisible),
        sorts: sortsWithin(request.sorts, allVisible),
      };
      const window = { limit: 10, offset: 0, after: undefined };
      await sqlDocumentStore(session).select(tasksSpec, "", seen, window);
      return plans.at(-1) ?? "";
    };

    test("few that are named by few: the index of the reference", async () => {
      const plan = await planOf({ filters: { $values: { "project.name": "project 7" } } });
      expect(plan).toContain("projects_by_name");
      expect(plan).toContain("tasks_by_project");
    });

    test("a unique rule: its index, as fast as reads by id", async () => {
      const before = scanned.length;
      expect(await planOf({ filters: { $values: { code: "c7" } } })).toContain("tasks_unique_code");
      expect(scanned).toHaveLength(before);
      await planOf({ filters: { $values: { code: { $in: ["c7", "c8"] } } } });
      expect(scanned).toHaveLength(before + 1);
    });

    test("two conditions on one referenced row: the row is looked up once", async () => {
      const values = { "project.name": "project 7", "project.owner": uuidv7() };
      const plan = await planOf({ filters: { $values: values } });
      expect(plan).toContain("tasks_by_project");
      expect(plan.split("projects_by_")).toHaveLength(2);
    });

    test("referrers of a document: the index of their reference", async () => {
      const filters = { $values: { title: "task 8" }, $exists: { "comments.task": {} } };
      const plan = await planOf({ filters });
      expect(plan).toContain("tasks_by_title");
      expect(plan).toContain("comments_by_task");
    });

    test("documents with the same target: the index of both references", async () => {
      const named = { "project.tasks.project": { $values: { title: "task 8" } } };
      const plan = await planOf({ filters: { $exists: named } });
      expect(plan).toContain("tasks_by_title");
      expect(plan).toContain("tasks_by_project");
    });

    test("a page with two levels of what it names takes two statements more", async () => {
      let asked = 0;
      const context = service.running.connection.context("tasks.list");
      const { transaction } = context;
      Object.defineProperty(context, "transaction", {
        value: {
          of: (key: typeof documentStore) => {
            const store = transaction.of(key);
            return new Proxy(store, {
              get: (target, name) => {
                const method: unknown = Reflect.get(target, name);
                if (typeof method !== "function") return method;
                return (...given: readonly unknown[]) => {
                  asked += 1;
                  return Reflect.apply(method, target, given) as unknown;
                };
              },
            });
          },
        },
      });
      const { documents } = await import("../../../runtime/families/documents/operations.js");
      const rules = { fields: tasksSpec.fieldSet, mayListDeleted: false, isRaw: false };
      const list = (body: object) =>
        documents.list(tasksSpec)(parsePageRequest(body, rules), context);
      await list({ size: 50 });
      const plain = asked;
      asked = 0;
      await list({ size: 50, expand: ["project.owner", "helper"] });
      expect(asked).toBe(plain + 2);
      // Each is one statement, whatever it asks for.
      const statements: string[] = [];
      const all: SqlSession["all"] = async (text) => {
        statements.push(text);
        return [];
      };
      const dialect = engine.name === "sqlite" ? sqliteDialect : postgresDialect;
      const ids = Array.from({ length: 300 }, () => uuidv7());
      const filter = { kind: "all", filters: [] } as const;
      const store = sqlDocumentStore({
        dialect,
        all,
        scan: all,
        run: async () => 0,
        runPipelined: async () => undefined,
      });
      await store.named(
        [
          { spec: tasksSpec, ids, filter },
          { spec: tasksSpec, ids, filter },
        ],
        "",
        1,
      );
      expect(statements).toHaveLength(1);
    });
  });
}
