// How much one read may take: the ceiling of page numbers, and reads of handlers without a size (service.md "Limits").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tasksSpec } from "../../../generated/documents/tasks.js";
import type { TasksFilter, TasksSorts } from "../../../generated/types/tasks.js";
import { service as reference } from "../../../generated/service.js";
import {
  collection,
  defineService,
  principal,
  route,
  tenant,
  type AnyRoute,
  type FindQuery,
} from "../../../runtime/index.js";
import { parseWith } from "../../../runtime/operations/input.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

/** A handler of the author's own that reads tasks with the query of its body. */
const find = route({
  operationId: "tasks.find",
  method: "POST",
  path: "/find",
  status: 200,
  input: parseWith((body) => body as FindQuery),
  hooks: [principal, tenant],
  transaction: "read",
  run: async (query: FindQuery, context) => ({
    titles: (await collection(tasksSpec, context).find(query)).map(({ title }) => title),
  }),
});
const definition = defineService({
  ...reference,
  routes: [...reference.routes, find] as readonly AnyRoute[],
});

const project = "01890000-0000-7000-8000-000000000007";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      const environment = { READ_LIMIT: "3", PAGE_CEILING: "2" };
      service = await startTestService(engine, { definition, environment });
      for (const [title, estimate] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) {
        const made = await service.post("/tasks", { title, project, estimate });
        expect(made.status).toBe(201);
      }
    });
    afterAll(() => service.stop());

    test.each([
      ["/tasks/query", {}],
      ["/tasks/raw_list", { return_fields: ["title"] }],
      ["/tasks/agg_list", { aggregates: { $groups: { state: "state" } } }],
      ["/search/tasks/typed", {}],
    ])("a page of %s beyond the ceiling is refused", async (path, body) => {
      const last = await service.post(path, { ...body, page: 2 });
      expect(last.status).toBe(200);
      const beyond = await service.post(path, { ...body, page: 3 });
      expect(beyond.body).toMatchObject({
        code: "core.validation",
        context: { errors: [{ path: "/page", keyword: "maximum", message: "must be <= 2" }] },
      });
    });

    test("a handler finds by filter and sort", async () => {
      const query = {
        filters: { $values: { estimate: { $gte: 2 } } } satisfies TasksFilter,
        sorts: { estimate: "desc" } satisfies TasksSorts,
      };
      const { body } = await service.post("/find", query);
      expect(body).toEqual({ titles: ["d", "c", "b"] });
    });

    test("a read with a size ends there", async () => {
      const { body } = await service.post("/find", { sorts: { title: "asc" }, size: 2 });
      expect(body).toEqual({ titles: ["a", "b"] });
    });

    test("a read without a size fails where there is more than the limit", async () => {
      const { status, body } = await service.post("/find", {});
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: "query_too_complex", context: { limit: 3 } });
    });
  });
}

test("none is without bound, and anything else that is no number is refused by name", () => {
  const environment = { READ_LIMIT: "none", PAGE_CEILING: "none" };
  const { readLimits } = readSettings({ name: "t" }, environment);
  expect(readLimits).toEqual({ documents: null, pages: null });
  expect(() => readSettings({ name: "t" }, { READ_LIMIT: "0" })).toThrow(/READ_LIMIT/);
});
