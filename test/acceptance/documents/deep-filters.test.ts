// Filters as deep as they may be, on every operation that takes them: both engines answer what the reference evaluator says.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../../runtime/contract/limits.js";
import { engines } from "../../support/engines.js";
import { passes } from "../../property/evaluator.js";
import { startTestService, type TestService } from "../../support/service.js";

type Node = Readonly<Record<string, unknown>>;
type Combinator = "$and" | "$or" | "$not";

const project = "01890000-0000-7000-8000-00000000000b";

/** Combinators in each other around a filter, outermost first; where they take two operands, the other is a leaf. */
function nested(
  combinators: readonly Combinator[],
  innermost: Node,
  other: (level: number) => Node,
  isDeepLast: boolean,
): Node {
  return combinators.reduceRight<Node>((inner, combinator, level) => {
    if (combinator === "$not") return { $not: inner };
    const operands = [inner, other(level)];
    return { [combinator]: isDeepLast ? operands.toReversed() : operands };
  }, innermost);
}

const levels = limits.maxFilterDepth - 1;
const turns = (...turn: readonly Combinator[]): readonly Combinator[] =>
  Array.from({ length: levels }, (_, at) => turn[at % turn.length] ?? "$not");
const launch = { $values: { title: "launch" } };
const leaves: readonly Node[] = [
  { $values: { estimate: { $gt: 2 } } },
  { $values: { labels: { $any: { $like: "p%" } } } },
  { $values: { due: { $null: true }, state: ["open", "doing"] } },
  { $values: { title: { $regex: "^[a-l]" }, labels: { $all: { $neq: "crew" } } } },
  { $fields: { title: { $neq: "state" } } },
];
const leaf = (level: number): Node => leaves[level % leaves.length] ?? {};
/** Every combinator has two deep operands, as far as the limits go. */
const bushy = (depth: number): Node =>
  depth === 0
    ? { $values: { estimate: { $gt: 2 } } }
    : { [depth % 2 === 0 ? "$and" : "$or"]: [bushy(depth - 1), { $not: bushy(depth - 1) }] };

const shapes: readonly (readonly [string, Node])[] = [
  ["$not, an odd number", nested(turns("$not"), launch, leaf, false)],
  ["$not, an even number", { $not: nested(turns("$not").slice(2), launch, leaf, false) }],
  ["$and and $or, the deep operand first", nested(turns("$and", "$or"), launch, leaf, false)],
  ["$or and $and, the deep operand last", nested(turns("$or", "$and"), launch, leaf, true)],
  ["all three", nested(turns("$not", "$or", "$not", "$and"), launch, leaf, true)],
  [
    "an operand that is a quantifier",
    nested(turns("$and", "$not", "$or"), leaves[3] ?? {}, leaf, true),
  ],
  ["both operands deep", nested(turns("$and", "$or").slice(12), bushy(6), leaf, true)],
  ["what every row passes", nested(turns("$and", "$or", "$not"), {}, () => ({}), true)],
];

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let rows: readonly (Node & { readonly id: string; readonly estimate: number | null })[];
    beforeAll(async () => {
      service = await startTestService(engine);
      const made = [];
      for (const [title, estimate, labels] of [
        ["launch", 1, []],
        ["launch", 3, ["paper"]],
        ["range", null, ["crew", "pens"]],
        ["all", 5, ["crew"]],
      ] as const)
        made.push((await service.post("/tasks", { title, project, estimate, labels })).body);
      rows = made;
    });
    afterAll(() => service.stop());

    /** The ids of the hits, over the pages of a cursor where there are some. */
    const found = async (path: string, body: object): Promise<readonly string[]> => {
      const answer = await service.post(path, body);
      expect([answer.status, answer.body.code]).toEqual([200, undefined]);
      return answer.body.hits.map(({ id }: { readonly id: string }) => id).toSorted();
    };

    describe.each(shapes)("%s", (_name, filters) => {
      const expected = () =>
        rows.filter((row) => passes(row, filters)).map(({ id, estimate }) => ({ id, estimate }));
      const ids = () =>
        expected()
          .map(({ id }) => id)
          .toSorted();

      test.each([
        ["/tasks/query", {}],
        ["/tasks/query", { count: { up_to: 1_000 } }],
        ["/tasks/list_cursor", {}],
        ["/tasks/raw_list", { return_fields: ["id"] }],
        ["/tasks/raw_list_cursor", { return_fields: ["id"] }],
        ["/search/tasks/typed", { query: ["launch", "range", "all"] }],
        ["/search/tasks/typed", { options: { max_candidates: 100 } }],
        ["/search/tasks/typed_cursor", { query: ["launch", "range", "all"] }],
        ["/search/tasks/raw", { return_fields: ["id"] }],
        ["/search/tasks/raw_cursor", { return_fields: ["id"], options: { max_candidates: 100 } }],
      ])("%s", async (path, rest) => {
        expect(await found(path, { filters, size: 100, ...rest })).toEqual(ids());
      });

      test("a search with facets", async () => {
        const options = { facets: ["labels"], fuzzy: true };
        const body = { query: ["launch", "range", "all"], filters, options };
        expect(await found("/search/tasks/typed", body)).toEqual(ids());
      });

      test("an aggregate's filter, and that of what it computes", async () => {
        const numbers = expected().flatMap(({ estimate }) => estimate ?? []);
        const sum = numbers.length === 0 ? null : numbers.reduce((one, other) => one + other);
        const whole = { $computed: { count: { $count: {} }, sum: { $sum: "estimate" } } };
        const chosen = await service.post("/tasks/agg_list", { aggregates: whole, filters });
        expect(chosen.body.hits).toEqual([{ count: ids().length, sum }]);
        const $computed = {
          count: { $count: { filter: filters } },
          sum: { $sum: { field: "estimate", filter: filters } },
        };
        const computed = await service.post("/tasks/agg_list", { aggregates: { $computed } });
        expect(computed.body.hits).toEqual([{ count: ids().length, sum }]);
        const statistics = Object.fromEntries(
          ["$median", "$stddev_samp", "$var_pop", "$avg"].map((name) => [
            name.slice(1),
            { [name]: { field: "estimate", filter: launch } },
          ]),
        );
        const grouped = { $groups: { state: "state" }, $computed: statistics };
        const answer = await service.post("/tasks/agg_list", { aggregates: grouped, filters });
        expect(answer.status).toBe(200);
      });
    });

    test.each([6, 7])("trees of %i levels whose leaves are quantifiers", async (depth) => {
      const tree = (level: number): Node =>
        level === 0
          ? { $not: { $values: { labels: { $subset: ["crew"] } } } }
          : { [level % 2 === 0 ? "$and" : "$or"]: [tree(level - 1), tree(level - 1)] };
      const filters = nested(turns("$and", "$or").slice(depth + 1), tree(depth), leaf, true);
      for (const body of [{}, { count: { up_to: 1_000 } }]) {
        const { status } = await service.post("/tasks/query", { filters, ...body });
        expect([body, status]).toEqual([body, 200]);
      }
      const options = { max_candidates: 100 };
      expect((await service.post("/search/tasks/typed", { filters, options })).status).toBe(200);
      const aggregates = {
        $computed: {
          n: { $count: { filter: filters } },
          sum: { $sum: { field: "estimate", filter: filters } },
        },
      };
      const answer = await service.post("/tasks/agg_list", { aggregates });
      // More than SQLite's parser bears is the caller's fault.
      expect([answer.status, answer.body.code]).toBeOneOf([
        [200, undefined],
        [422, "query_too_complex"],
      ]);
    });

    test.each(["$median", "$percentile", "$stddev_samp", "$var_pop", "$avg", "$min"])(
      "%s of what a deep filter lets through",
      async (name) => {
        const [, filter = {}] = shapes[6] ?? [];
        const p = name === "$percentile" ? { p: 0.9 } : {};
        const $computed = { value: { [name]: { field: "estimate", filter, ...p } } };
        const { status } = await service.post("/tasks/agg_list", {
          aggregates: {
            $groups: { at: { $trunc: { field: "created_at", unit: "day" } } },
            $computed,
          },
        });
        expect(status).toBe(200);
      },
    );

    test("one level more is refused by name", async () => {
      const filters = { $not: nested(turns("$not"), launch, leaf, false) };
      const { status, body } = await service.post("/tasks/query", { filters });
      expect([status, body.code]).toEqual([422, "query_too_complex"]);
    });
  });
}
