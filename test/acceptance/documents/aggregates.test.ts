// Aggregated lists over HTTP (decisions.md "Query language": aggregates).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const project = "01890000-0000-7000-8000-000000000009";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine);
      for (const [title, estimate, due, labels] of [
        ["a", 1, "2026-03-28T23:30:00Z", ["x"]],
        ["b", 2, "2026-03-29T21:59:00Z", ["x", "y"]],
        ["c", 4, "2026-03-29T22:01:00Z", []],
        ["d", null, null, []],
      ] as const)
        await service.post("/tasks", { title, project, estimate, due, labels });
    });
    afterAll(() => service.stop());

    const ask = (aggregates: object, rest: object = {}): Promise<Answer> =>
      service.post("/tasks/agg_list", { aggregates, ...rest });

    test("without groups there is one row, over nothing as well", async () => {
      const aggregates = {
        $computed: {
          all: { $count: {} },
          estimated: { $count: { filter: { $values: { estimate: { $null: false } } } } },
          total: { $sum: "estimate" },
          middle: { $median: "estimate" },
          high: { $percentile: { field: "estimate", p: 0.9 } },
          spread: { $stddev_samp: "estimate" },
          first: { $min: "due" },
          states: { $count_distinct: "state" },
        },
      };
      const { status, body } = await ask(aggregates);
      expect([status, body]).toEqual([
        200,
        {
          hits: [
            {
              all: 4,
              estimated: 3,
              total: 7,
              middle: 2,
              high: expect.closeTo(3.6, 9),
              spread: expect.closeTo(1.527525231652, 9),
              first: "2026-03-28T23:30:00.000Z",
              states: 1,
            },
          ],
          page: 1,
          size: 10,
          count: 1,
        },
      ]);
      const none = await ask(aggregates, { filters: { $values: { title: "nobody" } } });
      expect(none.body.hits).toEqual([
        {
          all: 0,
          estimated: 0,
          total: null,
          middle: null,
          high: null,
          spread: null,
          first: null,
          states: 0,
        },
      ]);
    });

    test("days begin where the time zone says, also when the clock is put forward", async () => {
      const day = { $trunc: { field: "due", unit: "day", timezone: "Europe/Berlin" } };
      const { body } = await ask({ $groups: { day }, $computed: { n: { $count: {} } } });
      expect(body.hits).toEqual([
        { day: null, n: 1 },
        { day: "2026-03-29T00:00:00", n: 2 },
        { day: "2026-03-30T00:00:00", n: 1 },
      ]);
    });

    test("groups are chosen, sorted and paged by their aliases", async () => {
      const aggregates = {
        $groups: { title: "title" },
        $computed: { points: { $sum: "estimate" } },
        $having: { points: { $gte: 2 } },
      };
      const first = await ask(aggregates, { sorts: { points: "desc" }, size: 1 });
      expect([first.body.hits, first.body.count]).toEqual([[{ title: "c", points: 4 }], 2]);
      const second = await ask(aggregates, { sorts: { points: "desc" }, size: 1, page: 2 });
      expect(second.body.hits).toEqual([{ title: "b", points: 2 }]);
    });

    test("deviations keep their fraction, however large they are", async () => {
      const title = "spread";
      for (const estimate of [123456789.123, 523456789.987, 1.25])
        await service.post("/tasks", { title, project, estimate });
      const $computed = { pop: { $stddev_pop: "estimate" }, samp: { $stddev_samp: "estimate" } };
      const { body } = await ask({ $computed }, { filters: { $values: { title } } });
      expect(body.hits[0].pop).toBeCloseTo(223420030.14699844, 6);
      expect(body.hits[0].samp).toBeCloseTo(273632536.0886905, 6);
    });

    test("a sum that no number holds is null; what numbers hold is not lost on the way", async () => {
      const title = "huge";
      for (const estimate of [1.7e308, 1.7e308, 1.7e308])
        await service.post("/tasks", { title, project, estimate });
      const aggregates = {
        $computed: {
          sum: { $sum: "estimate" },
          highest: { $max: "estimate" },
          lowest: { $min: "estimate" },
        },
      };
      const { status, body } = await ask(aggregates, { filters: { $values: { title } } });
      expect([status, body.hits]).toEqual([
        200,
        [{ sum: null, highest: 1.7e308, lowest: 1.7e308 }],
      ]);
    });

    // Read from text: in a literal of JavaScript, `__proto__` isn't a member.
    test.each([
      ['{"$groups": {"__proto__": "state"}}', "query_invalid", "/aggregates/$groups/__proto__"],
      [
        '{"$computed": {"__proto__": {"$count": {}}}}',
        "query_invalid",
        "/aggregates/$computed/__proto__",
      ],
      ['{"$groups": {"a": "__proto__"}}', "field_not_queryable", "/aggregates/$groups/a"],
      [
        '{"$groups": {"a": {"__proto__": {"field": "due", "unit": "day"}}}}',
        "core.validation",
        "/aggregates/$groups/a/__proto__",
      ],
      [
        '{"$groups": {"a": {"$trunc": {"field": "__proto__", "unit": "day"}}}}',
        "field_not_queryable",
        "/aggregates/$groups/a/$trunc/field",
      ],
      [
        '{"$computed": {"a": {"__proto__": "estimate"}}}',
        "query_invalid",
        "/aggregates/$computed/a/__proto__",
      ],
      [
        '{"$computed": {"a": {"$sum": "__proto__"}}}',
        "field_not_queryable",
        "/aggregates/$computed/a/$sum/field",
      ],
      [
        '{"$computed": {"a": {"$sum": {"field": "estimate", "__proto__": 1}}}}',
        "core.validation",
        "/aggregates/$computed/a/$sum/__proto__",
      ],
      [
        '{"$computed": {"a": {"$count": {}}}, "$having": {"__proto__": 1}}',
        "field_not_queryable",
        "/aggregates/$having/__proto__",
      ],
      [
        '{"$computed": {"a": {"$count": {"filter": {"$values": {"__proto__": 1}}}}}}',
        "field_not_queryable",
        "/aggregates/$computed/a/$count/filter/$values/__proto__",
      ],
      [
        '{"$computed": {"a": {"$count": {}}}, "__proto__": {"$groups": {"b": "state"}}}',
        "core.validation",
        "/aggregates/__proto__",
      ],
    ])("%s is an error", async (text, code, at) => {
      const { status, body } = await ask(JSON.parse(text) as object);
      const path = body.context.path ?? body.context.errors[0].path;
      expect([status, body.code, path]).toEqual([422, code, at]);
    });

    test("groups are not sorted by __proto__", async () => {
      const { status, body } = await ask(
        { $computed: { a: { $count: {} } } },
        { sorts: JSON.parse('{"__proto__": "asc"}') as object },
      );
      expect([status, body.code]).toEqual([422, "field_not_queryable"]);
    });

    test("aliases may be called like members of every object", async () => {
      const { status, body } = await ask(
        {
          $groups: { constructor: "state" },
          $computed: { toString: { $count: {} }, hasOwnProperty: { $max: "estimate" } },
          $having: { toString: { $gte: 1 }, constructor: "open" },
        },
        { sorts: { constructor: "asc" }, filters: { $values: { title: ["a", "b", "c", "d"] } } },
      );
      expect([status, JSON.stringify(body.hits)]).toEqual([
        200,
        '[{"constructor":"open","toString":4,"hasOwnProperty":4}]',
      ]);
    });

    const n = { n: { $count: {} } };
    test.each<readonly [object, string, string]>([
      [{}, "query_invalid", "/aggregates"],
      [
        { $groups: { "x; DROP TABLE tasks": "state" } },
        "query_invalid",
        "/aggregates/$groups/x; DROP TABLE tasks",
      ],
      [{ $groups: { a: 'state" --' } }, "field_not_queryable", "/aggregates/$groups/a"],
      [{ $groups: { a: "tenant_id" } }, "field_not_queryable", "/aggregates/$groups/a"],
      [{ $groups: { a: "labels" } }, "query_operator_type_mismatch", "/aggregates/$groups/a"],
      [
        { $groups: { a: "state" }, $computed: { a: { $count: {} } } },
        "query_invalid",
        "/aggregates/$computed/a",
      ],
      [
        { $groups: { a: { $trunc: { field: "title", unit: "day" } } } },
        "query_operator_type_mismatch",
        "/aggregates/$groups/a/$trunc/field",
      ],
      [
        { $groups: { a: { $trunc: { field: "due", unit: "year" } } } },
        "query_invalid",
        "/aggregates/$groups/a/$trunc/unit",
      ],
      ...[
        "Mars/Olympus",
        "+02:00",
        "CET",

        "UTC'; DROP TABLE tasks; --",
        "",
        "../../etc/passwd",
      ].map(
        (timezone) =>
          [
            { $groups: { a: { $trunc: { field: "due", unit: "day", timezone } } } },
            "query_invalid",
            "/aggregates/$groups/a/$trunc/timezone",
          ] as const,
      ),
      [
        { $computed: { a: { $sum: "title" } } },
        "query_operator_type_mismatch",
        "/aggregates/$computed/a/$sum",
      ],
      [
        { $computed: { a: { $max: "title" } } },
        "query_operator_type_mismatch",
        "/aggregates/$computed/a/$max",
      ],
      [{ $computed: { a: { $evil: "title" } } }, "query_invalid", "/aggregates/$computed/a/$evil"],
      [
        { $computed: { a: { $count: {}, $sum: "estimate" } } },
        "query_invalid",
        "/aggregates/$computed/a",
      ],
      [
        { $computed: { a: { $percentile: { field: "estimate", p: 2 } } } },
        "query_invalid",
        "/aggregates/$computed/a/$percentile/p",
      ],
      [
        { $computed: { a: { $sum: { field: "estimate", filter: { $xor: [] } } } } },
        "query_invalid",
        "/aggregates/$computed/a/$sum/filter/$xor",
      ],
      [{ $computed: n, $having: { m: 1 } }, "field_not_queryable", "/aggregates/$having/m"],
      [
        { $computed: n, $having: { n: { $like: "1" } } },
        "query_operator_type_mismatch",
        "/aggregates/$having/n/$like",
      ],
    ])("%j is an error", async (aggregates, code, at) => {
      const refused = await ask(aggregates);
      expect([refused.status, refused.body.code, refused.body.context.path]).toEqual([
        422,
        code,
        at,
      ]);
    });

    test("sorts name aliases alone", async () => {
      const refused = await ask({ $computed: n }, { sorts: { state: "asc" } });
      expect([refused.status, refused.body.code]).toEqual([422, "field_not_queryable"]);
    });
  });
}
