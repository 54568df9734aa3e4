// Lists over HTTP: pages, cursors, filters, sorts, projections, and every way to get them wrong (decisions.md §1).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const project = "01890000-0000-7000-8000-000000000002";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine);
      for (let index = 0; index < 12; index += 1) {
        await service.post("/tasks", {
          title: `t${String(index).padStart(2, "0")}`,
          project,
          estimate: index % 3 === 0 ? null : index % 5,
          due: index % 4 === 0 ? null : `2026-01-${String(31 - index)}T00:00:00Z`,
        });
      }
    });
    afterAll(() => service.stop());

    const titles = (hits: readonly { readonly title: string }[]) => hits.map(({ title }) => title);

    test("pages count and cut", async () => {
      const first = await service.post("/tasks/query", { size: 5, sorts: { title: "asc" } });
      expect([first.body.count, first.body.page, first.body.size, titles(first.body.hits)]).toEqual(
        [12, 1, 5, ["t00", "t01", "t02", "t03", "t04"]],
      );
      const last = await service.post("/tasks/query", {
        page: 3,
        size: 5,
        sorts: { title: "asc" },
      });
      expect(titles(last.body.hits)).toEqual(["t10", "t11"]);
      expect((await service.post("/tasks/query", {})).body.hits).toHaveLength(10);
    });

    test("filters by literal, list and null; {} is every row", async () => {
      const query = async (filters: unknown) =>
        (await service.post("/tasks/query", { size: 100, filters, sorts: { title: "asc" } })).body
          .hits;
      expect(titles(await query({ $values: { title: "t03" } }))).toEqual(["t03"]);
      expect(titles(await query({ $values: { title: ["t01", "t02"], project } }))).toEqual([
        "t01",
        "t02",
      ]);
      expect(titles(await query({ $values: { due: null } }))).toEqual(["t00", "t04", "t08"]);
      expect(titles(await query({ $values: { due: "2026-01-30T01:00:00+01:00" } }))).toEqual([
        "t01",
      ]);
      expect(await query({})).toHaveLength(12);
    });

    test("cursors walk forth and back over every row once", async () => {
      const sorts = { estimate: "desc", due: "asc" };
      const whole = titles((await service.post("/tasks/query", { size: 100, sorts })).body.hits);
      const forth: string[] = [];
      let page = (await service.post("/tasks/list_cursor", { size: 5, sorts })).body;
      expect(page.prev_cursor).toBeNull();
      forth.push(...titles(page.hits));
      while (page.has_more) {
        page = (
          await service.post("/tasks/list_cursor", { size: 5, sorts, after: page.next_cursor })
        ).body;
        forth.push(...titles(page.hits));
      }
      expect(forth).toEqual(whole);
      expect(page.next_cursor).toBeNull();
      const back: string[] = titles(page.hits);
      while (page.prev_cursor !== null) {
        page = (
          await service.post("/tasks/list_cursor", { size: 5, sorts, before: page.prev_cursor })
        ).body;
        back.unshift(...titles(page.hits));
      }
      expect(back).toEqual(whole);
    });

    test("rows that stay are seen once while others come and go", async () => {
      const seen: string[] = [];
      let after: string | undefined;
      for (let round = 0; ; round += 1) {
        const { body } = await service.post("/tasks/list_cursor", {
          size: 3,
          sorts: { title: "asc" },
          ...(after === undefined ? {} : { after }),
        });
        seen.push(...titles(body.hits));
        const { body: extra } = await service.post("/tasks", {
          title: `t${String(round).padStart(2, "0")}-new`,
          project,
        });
        if (round % 2 === 0) await service.call("DELETE", `/tasks/${extra.id}`);
        if (!body.has_more) break;
        after = body.next_cursor;
      }
      const stayed = seen.filter((title) => !title.includes("new"));
      expect(stayed).toEqual(
        Array.from({ length: 12 }, (_, index) => `t${String(index).padStart(2, "0")}`),
      );
    });

    test("raw lists project and keep nesting", async () => {
      const { body } = await service.post("/tasks/raw_list", {
        size: 1,
        sorts: { title: "asc" },
        return_fields: ["title", "rev"],
      });
      expect(body.hits).toEqual([{ title: "t00", rev: 1 }]);
      const cursor = await service.post("/tasks/raw_list_cursor", {
        size: 1,
        sorts: { title: "asc" },
        return_fields: ["title"],
      });
      expect(cursor.body.hits).toEqual([{ title: "t00" }]);
    });

    const faults: readonly (readonly [string, string, unknown, number, string, string])[] = [
      ["size 0", "/query", { size: 0 }, 422, "core.validation", "/size"],
      ["size above the limit", "/query", { size: 10_001 }, 422, "core.validation", "/size"],
      ["page 0", "/query", { page: 0 }, 422, "core.validation", "/page"],
      ["size as text", "/query", { size: "5" }, 422, "core.validation", "/size"],
      ["an unknown key", "/query", { filter: {} }, 422, "core.validation", "/filter"],
      [
        "with_deleted where it is not allowed",
        "/query",
        { with_deleted: true },
        422,
        "core.validation",
        "/with_deleted",
      ],
      ["raw without fields", "/raw_list", {}, 422, "core.validation", "/return_fields"],
      [
        "raw with no field",
        "/raw_list",
        { return_fields: [] },
        422,
        "core.validation",
        "/return_fields",
      ],
      [
        "raw with a field twice",
        "/raw_list",
        { return_fields: ["title", "title"] },
        422,
        "core.validation",
        "/return_fields",
      ],
      [
        "raw with an unknown field",
        "/raw_list",
        { return_fields: ["tenant_id"] },
        422,
        "field_not_queryable",
        "/return_fields/0",
      ],
      [
        "after and before",
        "/list_cursor",
        { after: "a", before: "b" },
        422,
        "core.validation",
        "/before",
      ],
      [
        "a cursor that is null",
        "/list_cursor",
        { before: null },
        422,
        "core.validation",
        "/before",
      ],
      ["a filter that is a list", "/query", { filters: [] }, 422, "query_invalid", "/filters"],
      [
        "an unknown combinator",
        "/query",
        { filters: { $xor: [] } },
        422,
        "query_invalid",
        "/filters/$xor",
      ],
      [
        "an undeclared field",
        "/query",
        { filters: { $values: { "x; DROP TABLE tasks": 1 } } },
        422,
        "field_not_queryable",
        "/filters/$values/x; DROP TABLE tasks",
      ],
      [
        "the tenant",
        "/query",
        { filters: { $values: { tenant_id: "other" } } },
        422,
        "field_not_queryable",
        "/filters/$values/tenant_id",
      ],
      [
        "a prototype member",
        "/query",
        { filters: { $values: { constructor: 1 } } },
        422,
        "field_not_queryable",
        "/filters/$values/constructor",
      ],
      [
        "a number for text",
        "/query",
        { filters: { $values: { title: 1 } } },
        422,
        "query_operator_type_mismatch",
        "/filters/$values/title",
      ],
      [
        "no date",
        "/query",
        { filters: { $values: { due: "9999-99-99" } } },
        422,
        "query_operator_type_mismatch",
        "/filters/$values/due",
      ],
      [
        "text for a number in a list",
        "/query",
        { filters: { $values: { estimate: [1, "2"] } } },
        422,
        "query_operator_type_mismatch",
        "/filters/$values/estimate/1",
      ],
      [
        "equality of an array field",
        "/query",
        { filters: { $values: { labels: "x" } } },
        422,
        "query_operator_type_mismatch",
        "/filters/$values/labels",
      ],
      ...(
        [
          ["an empty $and", { $and: [] }, "query_invalid", "/filters/$and"],
          ["an empty $or", { $or: [] }, "query_invalid", "/filters/$or"],
          ["a $not of a list", { $not: [] }, "query_invalid", "/filters/$not"],
          [
            "a combinator beside constraints",
            { $and: [{}], $values: {} },
            "query_invalid",
            "/filters/$values",
          ],
          ["two combinators", { $and: [{}], $or: [{}] }, "query_invalid", "/filters/$or"],
          [
            "an unknown key deep inside",
            { $and: [{}, { $not: { $value: {} } }] },
            "query_invalid",
            "/filters/$and/1/$not/$value",
          ],
          [
            "an unknown operator",
            { $values: { title: { $ne: "x" } } },
            "query_invalid",
            "/filters/$values/title/$ne",
          ],
          ["no operator", { $values: { title: {} } }, "query_invalid", "/filters/$values/title"],
          [
            "an operator that is a prototype member",
            { $values: { title: { constructor: 1 } } },
            "query_invalid",
            "/filters/$values/title/constructor",
          ],
          [
            "an order of texts",
            { $values: { title: { $gt: "a" } } },
            "query_operator_type_mismatch",
            "/filters/$values/title/$gt",
          ],
          [
            "a pattern for a number",
            { $values: { estimate: { $like: "1%" } } },
            "query_operator_type_mismatch",
            "/filters/$values/estimate/$like",
          ],
          [
            "a pattern for an enum",
            { $values: { state: { $like: "o%" } } },
            "query_operator_type_mismatch",
            "/filters/$values/state/$like",
          ],
          [
            "a set for a text",
            { $values: { title: { $superset: ["a"] } } },
            "query_operator_type_mismatch",
            "/filters/$values/title/$superset",
          ],
          [
            "an order of elements",
            { $values: { labels: { $any: { $gt: "a" } } } },
            "query_operator_type_mismatch",
            "/filters/$values/labels/$any/$gt",
          ],
          [
            "a wrong element",
            { $values: { labels: { $superset: ["a", 1] } } },
            "query_operator_type_mismatch",
            "/filters/$values/labels/$superset/1",
          ],
          [
            "a flag that is a text",
            { $values: { title: { $null: "true" } } },
            "query_invalid",
            "/filters/$values/title/$null",
          ],
          [
            "null as an operand",
            { $values: { estimate: { $gt: null } } },
            "query_operator_type_mismatch",
            "/filters/$values/estimate/$gt",
          ],
          [
            "no list for $in",
            { $values: { title: { $in: "a" } } },
            "query_invalid",
            "/filters/$values/title/$in",
          ],
          [
            "a pattern that ends in the middle",
            { $values: { title: { $like: "a\\" } } },
            "query_invalid",
            "/filters/$values/title/$like",
          ],
          [
            "a long pattern",
            { $values: { title: { $like: "a".repeat(257) } } },
            "query_too_complex",
            "/filters/$values/title/$like",
          ],
          [
            "many alternatives",
            { $values: { title: { $like: Array.from({ length: 33 }, () => "a") } } },
            "query_too_complex",
            "/filters/$values/title/$like",
          ],
          [
            "many alternatives of a pattern",
            { $values: { title: { $regex: Array.from({ length: 33 }, () => "a").join("|") } } },
            "query_too_complex",
            "/filters/$values/title/$regex",
          ],
          ...[
            "(a+)+$",
            "a{3}",
            "a*",
            "(?=a)",
            "\\1",
            "[a",
            "a)",
            "[b-a]",
            "\\",
            "a$b",
            "\\p{L}",
            "x?",
          ].map(
            (pattern) =>
              [
                `the pattern ${pattern}`,
                { $values: { title: { $regex: pattern } } },
                "query_invalid",
                "/filters/$values/title/$regex",
              ] as const,
          ),
          [
            "a comparison with a text",
            { $fields: { due: { $gt: 1 } } },
            "query_invalid",
            "/filters/$fields/due/$gt",
          ],
          [
            "a comparison of fields by pattern",
            { $fields: { title: { $like: "title" } } },
            "query_invalid",
            "/filters/$fields/title/$like",
          ],
          [
            "a comparison of other types",
            { $fields: { due: { $gt: "estimate" } } },
            "query_operator_type_mismatch",
            "/filters/$fields/due/$gt",
          ],
          [
            "a comparison with an undeclared field",
            { $fields: { due: { $gt: 'due" OR "1' } } },
            "field_not_queryable",
            "/filters/$fields/due/$gt",
          ],
          [
            "deep nesting",
            Array.from({ length: 33 }).reduce<object>((inner) => ({ $not: inner }), {}),
            "query_too_complex",
            `/filters${"/$not".repeat(32)}`,
          ],
          [
            "many filters without a clause",
            { $or: Array.from({ length: 512 }, () => ({})) },
            "query_too_complex",
            "/filters/$or/511",
          ],
          [
            "many clauses",
            { $or: Array.from({ length: 257 }, () => ({ $values: { title: "a" } })) },
            "query_too_complex",
            "/filters/$or/256/$values/title",
          ],
        ] as const
      ).map(([what, filters, code, at]) => [what, "/query", { filters }, 422, code, at] as const),
      [
        "too many operands",
        "/query",
        { filters: { $values: { estimate: Array.from({ length: 1_001 }, () => 1) } } },
        422,
        "query_too_complex",
        "/filters/$values/estimate",
      ],
      [
        "too many sorts",
        "/query",
        { sorts: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, "asc"])) },
        422,
        "query_too_complex",
        "/sorts",
      ],
      [
        "a sort by nothing",
        "/query",
        { sorts: { title: "up" } },
        422,
        "query_invalid",
        "/sorts/title",
      ],
      [
        "a sort by an array",
        "/query",
        { sorts: { labels: "asc" } },
        422,
        "query_operator_type_mismatch",
        "/sorts/labels",
      ],
      [
        "a sort with SQL",
        "/query",
        { sorts: { 'title" DESC; --': "asc" } },
        422,
        "field_not_queryable",
        '/sorts/title" DESC; --',
      ],
      ["a body that is a list", "/query", [], 422, "core.validation", ""],
    ];
    test.each(faults)(
      "%s is an error, never a wider result",
      async (_what, path, body, status, code, at) => {
        const refused = await service.post(`/tasks${path}`, body);
        expect([refused.status, refused.body.code]).toEqual([status, code]);
        const { context } = refused.body;
        expect(context.path ?? context.errors[0].path).toBe(at);
      },
    );

    test("a set of a thousand values is one condition of the statement", async () => {
      const labels = ["first", "second"];
      await service.post("/tasks", { title: "a set", project, labels });
      const count = async (operator: string, values: readonly string[]): Promise<unknown> => {
        const filters = { $values: { title: "a set", labels: { [operator]: values } } };
        return (await service.post("/tasks/query", { filters })).body.count;
      };
      const many = [...labels, ...Array.from({ length: 998 }, (_, index) => `l${index}`)];
      expect([await count("$subset", many), await count("$superset", many)]).toEqual([1, 0]);
      expect(await count("$superset", labels)).toBe(1);
    });

    test("a page ends at its budget of bytes: a cursor goes on, a numbered page is refused", async () => {
      const text = "x".repeat(900_000);
      for (let index = 0; index < 20; index += 1) await service.post("/notes/create", { text });
      const refused = await service.post("/notes/list", { size: 100 });
      expect([refused.status, refused.body.code, refused.body.context.path]).toEqual([
        422,
        "query_too_complex",
        "/size",
      ]);
      let seen = 0;
      let after: string | undefined;
      for (;;) {
        const { body } = await service.post("/notes/list_cursor", {
          size: 100,
          ...(after === undefined ? {} : { after }),
        });
        expect(body.hits.length).toBeLessThan(20);
        seen += body.hits.length;
        if (!body.has_more) break;
        after = body.next_cursor;
      }
      expect(seen).toBe(20);
    });

    test("a cursor is refused in every other query, and when it was touched", async () => {
      const sorts = { title: "asc" };
      const { next_cursor: cursor } = (await service.post("/tasks/list_cursor", { size: 2, sorts }))
        .body;
      const [payload = "", mac = ""] = cursor.split(".");
      const flipped = `${payload.slice(0, -1)}${payload.endsWith("A") ? "B" : "A"}`;
      const requests: readonly (readonly [string, object])[] = [
        ["/tasks/list_cursor", { size: 2, sorts: { title: "desc" }, after: cursor }],
        [
          "/tasks/list_cursor",
          { size: 2, sorts, filters: { $values: { state: "open" } }, after: cursor },
        ],
        ["/tasks/raw_list_cursor", { size: 2, sorts, return_fields: ["title"], after: cursor }],
        ["/projects/list_cursor", { size: 2, after: cursor }],
        ...[
          `${flipped}.${mac}`,
          `${payload}.${mac.slice(0, -2)}`,
          `${payload}.`,
          payload,
          "",
          "....",
          `${cursor}=`,
          ` ${cursor}`,
          "x".repeat(10_000),
        ].map((after) => ["/tasks/list_cursor", { size: 2, sorts, after }] as const),
      ];
      for (const [path, body] of requests) {
        const refused = await service.post(path, body);
        expect([refused.status, refused.body]).toEqual([
          422,
          {
            detail: "The cursor does not belong to this query.",
            code: "invalid_cursor",
            kind: "validation",
            context: {},
          },
        ]);
      }
      expect(
        (await service.post("/tasks/list_cursor", { size: 2, sorts, after: cursor })).status,
      ).toBe(200);
    });
  });
}
