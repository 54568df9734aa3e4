// Both engines aggregate as the reference evaluator does: groups, periods in time zones, every function, having, order.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aggList } from "../../runtime/families/documents/aggregate.js";
import { outputValue } from "../../runtime/operations/json-text.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import { parseAggregateRequest } from "../../runtime/query/parse-aggregate.js";
import { engines } from "../support/engines.js";
import { aggregate, type AggregateRequest, type Sorts } from "./evaluator.js";
import { body, byName, filter, openThings, sortable, things, type Things } from "./things.js";

const runs = Number(process.env["OPWRIGHT_AGGREGATE_RUNS"] ?? 500);

const numbers = ["size", "count", "place.zip"] as const;
const ordered = sortable.filter((name) => !["string", "boolean"].includes(byName[name] ?? ""));
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
];
const trunc = fc.record({
  field: fc.constantFrom("at", "created_at", "day"),
  unit: fc.constantFrom("hour", "day", "week", "month"),
  timezone: fc.constantFrom(...zones),
});
const group = fc.oneof(
  fc.constantFrom(...sortable),
  trunc.map(($trunc) => ({ $trunc })),
);
const withFilter = (field: fc.Arbitrary<string>) =>
  fc.oneof(field, fc.record({ field, filter }, { requiredKeys: ["field"] }));
const statistic = fc
  .tuple(
    fc.constantFrom(
      "$sum",
      "$avg",
      "$median",
      "$stddev_pop",
      "$stddev_samp",
      "$var_pop",
      "$var_samp",
    ),
    withFilter(fc.constantFrom(...numbers)),
  )
  .map(([name, operand]) => ({ [name]: operand }));
const computed = fc.oneof(
  statistic,
  fc.record({ filter }, { requiredKeys: [] }).map(($count) => ({ $count })),
  withFilter(fc.constantFrom(...sortable)).map(($count_distinct) => ({ $count_distinct })),
  withFilter(fc.constantFrom(...ordered)).map(($min) => ({ $min })),
  withFilter(fc.constantFrom(...ordered)).map(($max) => ({ $max })),
  fc
    .record({ field: fc.constantFrom(...numbers), p: fc.constantFrom(0, 0.1, 0.5, 0.9, 1), filter })
    .map(($percentile) => ({ $percentile })),
);
const aliases = <T>(prefix: string, value: fc.Arbitrary<T>) =>
  fc
    .array(value, { maxLength: 3 })
    .map((all) => Object.fromEntries(all.map((one, index) => [`${prefix}${index}`, one])));
const request = fc
  .record({
    $groups: aliases("key", group),
    $computed: aliases("value", computed),
    having: fc.constantFrom<object>(
      {},
      { rows: { $gt: 1 } },
      { rows: [1, 2, 3] },
      { rows: { $null: true } },
    ),
  })
  .map(({ having, $groups, $computed }) => ({
    $groups,
    // Always there, so that something can be asked of it.
    $computed: { ...$computed, rows: { $count: {} } },
    $having: having,
  }));

/** Numbers are compared up to their last bits; everything else as it is. */
function near(left: unknown, right: unknown): boolean {
  if (typeof left !== "number" || typeof right !== "number") return left === right;
  return Math.abs(left - right) <= 1e-9 * Math.max(1, Math.abs(left), Math.abs(right));
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let opened: Things;
    beforeAll(async () => {
      opened = await openThings(engine);
    });
    afterAll(() => opened.close());

    test(
      `${runs} random aggregates over random rows`,
      async () => {
        const perSet = 100;
        for (let set = 0; set * perSet < runs; set += 1) {
          const options = { numRuns: 1, seed: set + 1 };
          const [bodies] = fc.sample(fc.array(body, { minLength: 40, maxLength: 40 }), options);
          const tenant = uuidv7();
          // Sums of numbers of very different sizes depend on their order; here they are of one size.
          const sized = (bodies ?? []).map((one) => {
            const { size } = one as { readonly size?: number | null };
            return typeof size === "number" && Math.abs(size) > 1e6 ? { ...one, size: 7 } : one;
          });
          const counted = sized.map((one) => {
            const { count, place } = one as {
              readonly count?: number | null;
              readonly place?: { readonly zip?: number | null } | null;
            };
            const small = (value: number | null | undefined) =>
              typeof value === "number" ? Math.min(value, 99) : value;
            return {
              ...one,
              ...(count === undefined ? {} : { count: small(count) }),
              ...(place == null ? {} : { place: { ...place, zip: small(place.zip) ?? null } }),
            };
          });
          const rows = await opened.store(tenant, counted);
          const live = rows.filter((row) => !row.is_deleted);
          const context = opened.connection.context("things.agg_list", tenant);
          const query = fc.record({
            filter,
            request,
            direction: fc.constantFrom("asc" as const, "desc" as const),
          });
          await fc.assert(
            fc.asyncProperty(query, async ({ filter: filters, request: aggregates, direction }) => {
              const sorts: Sorts = { rows: direction };
              const expected = aggregate(
                live,
                filters,
                aggregates as unknown as AggregateRequest,
                sorts,
              );
              const parsed = parseAggregateRequest(
                { aggregates, filters, sorts, size: 1_000 },
                { fields: things.fieldSet, mayListDeleted: false },
              );
              const answer = outputValue(await aggList(things)(parsed, context));
              expect(answer.count).toBe(expected.length);
              for (const [index, hit] of answer.hits.entries()) {
                const wanted = expected[index] ?? {};
                const differing = Object.keys({ ...wanted, ...hit }).filter(
                  (alias) => !near(hit[alias], wanted[alias]),
                );
                expect([differing, hit, wanted]).toEqual([[], hit, wanted]);
              }
            }),
            { numRuns: Math.min(perSet, runs - set * perSet), seed: set + 1 },
          );
        }
      },
      runs * 300,
    );
  });
}
