// Filters name values that can be: members of an enumeration, UUIDs, dates. Others are refused alike on both engines.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TasksFilter } from "../../../generated/client/api/tasks.js";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: lots, title: Lots, version: 1.0.0}
policies: {open: []}
types:
  Grade: [low, high]
documents:
  lots:
    type:
      name: string
      state: {type: string, enum: [open, done], default: open}
      grade: Grade?
      marks: {type: array, items: {$ref: '#/types/Grade'}, default: []}
      place: {type: object, properties: {kind: {enum: [shop, store]}, since: {type: string, format: date}}, additionalProperties: false, default: {}}
      parts: {type: array, items: {type: object, properties: {grade: {$ref: '#/types/Grade'}}, additionalProperties: false}, default: []}
      maker: uuid?
    guard: open
search:
  finds: {of: lots, text: [name], guard: open, mount: {at: /finds}}
`;

/** Filters by the pointer of what is wrong with them, and the values that could stand there. */
const refused: readonly (readonly [string, object, readonly string[] | undefined])[] = [
  ["/state", { state: "opne" }, ["open", "done"]],
  ["/state/1", { state: ["open", "opne"] }, ["open", "done"]],
  ["/state/$neq", { state: { $neq: "opne" } }, ["open", "done"]],
  ["/state/$gt", { state: { $gt: "o" } }, ["open", "done"]],
  ["/state/$nin/0", { state: { $nin: ["Open"] } }, ["open", "done"]],
  ["/grade", { grade: "middle" }, ["low", "high"]],
  ["/marks/$superset/0", { marks: { $superset: ["middle"] } }, ["low", "high"]],
  ["/marks/$any", { marks: { $any: "middle" } }, ["low", "high"]],
  ["/place.kind", { "place.kind": "shed" }, ["shop", "store"]],
  ["/place/$eq/kind", { place: { $eq: { kind: "shed" } } }, ["shop", "store"]],
  ["/parts/$any/grade", { parts: { $any: { grade: "middle" } } }, ["low", "high"]],
  ["/maker", { maker: "me" }, undefined],
  ["/id/0", { id: ["01890000-0000-7000-8000-00000000000"] }, undefined],
  ["/created_at/$gt", { created_at: { $gt: "2026-02-30T00:00:00Z" } }, undefined],
  ["/place.since", { "place.since": "2026-13-01" }, undefined],
];

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({ "registry/service.yaml": registry });
      service = await startTestService(engine, declared);
      for (const body of [
        { name: "a", grade: "high", marks: ["low"], place: { kind: "shop", since: "2026-02-01" } },
        { name: "b", state: "done", parts: [{ grade: "high" }] },
      ])
        expect((await service.post("/lots", body)).status).toBe(201);
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    const asked = (values: object): Readonly<Record<string, object>> => {
      const filters = { $values: values };
      return {
        "/lots/list": { filters },
        "/lots/raw_list": { filters, return_fields: ["name"] },
        "/lots/list_cursor": { filters },
        "/lots/agg_list": { filters, aggregates: { $computed: { n: { $count: {} } } } },
        "/finds/typed": { filters },
      };
    };

    test.each(refused)(
      "a filter with a wrong value at %s is refused",
      async (at, values, allowed) => {
        for (const [path, body] of Object.entries(asked(values))) {
          const answer = await service.post(path, body);
          expect([path, answer.status, answer.body.code]).toEqual([
            path,
            422,
            "query_operator_type_mismatch",
          ]);
          expect(answer.body.context.path).toBe(`/filters/$values${at}`);
          expect(answer.body.context.values).toEqual(allowed);
        }
      },
    );

    test.each([
      [{ state: "open" }, ["a"]],
      [{ state: ["open", "done"] }, ["a", "b"]],
      [{ grade: null }, ["b"]],
      [{ grade: { $gte: "high" } }, ["a"]],
      [{ marks: { $any: "low" } }, ["a"]],
      [{ "place.kind": "shop", "place.since": "2026-02-01" }, ["a"]],
      [{ parts: { $any: { grade: { $in: ["high"] } } } }, ["b"]],
    ])("%j finds what it names", async (values, names) => {
      const body = { filters: { $values: values }, sorts: { name: "asc" } };
      const { body: page } = await service.post("/lots/list", body);
      expect(page.hits.map(({ name }: { name: string }) => name)).toEqual(names);
    });

    test("groups of an enumeration are asked for its values alone", async () => {
      const having = (state: string): object => ({
        aggregates: { $groups: { by: "state" }, $having: { by: state } },
      });
      const { body } = await service.post("/lots/agg_list", having("done"));
      expect(body.hits).toEqual([{ by: "done" }]);
      const answer = await service.post("/lots/agg_list", having("doen"));
      expect([answer.status, answer.body.context]).toEqual([
        422,
        { path: "/aggregates/$having/by", type: "enum", values: ["open", "done"] },
      ]);
    });
  });
}

test("a filter of the client names only values of the enumeration", () => {
  const filters: readonly TasksFilter[] = [
    { $values: { state: "open" } },
    { $values: { state: ["open", "done"] } },
    { $values: { state: { $nin: ["doing"] } } },
    // @ts-expect-error -- no value of the enumeration
    { $values: { state: "opne" } },
    // @ts-expect-error -- no value of the enumeration
    { $values: { state: { $in: ["open", "opne"] } } },
  ];
  expect(filters).toHaveLength(5);
});
