// Merge patches of maps and open objects over HTTP (RFC 7396): null removes a member at every depth.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: patched, title: Patched, version: 1.0.0}
policies: {open: []}
types:
  Deep: {name: string, next: Deep?}
documents:
  notes:
    type:
      text: string
      labels: {type: object, additionalProperties: {type: string, minLength: 1}, default: {}}
      counts: {type: object, patternProperties: {"^x-": {type: integer}}, additionalProperties: false, default: {}}
      shops:
        type: object
        additionalProperties:
          type: object
          properties: {name: {type: string}, closed: {type: [string, "null"]}, hours: {type: object, additionalProperties: {type: string}}}
          required: [name]
          additionalProperties: false
        default: {}
      open: {type: object, properties: {kind: {type: string}, size: {type: integer}}, required: [kind], default: {kind: none}}
      free: {type: object, additionalProperties: true, default: {}}
      deep: {$ref: '#/types/Deep', default: {name: "0"}}
      due: date-time?
      either:
        anyOf:
          - {type: object, properties: {kind: {const: box}, size: {type: integer}, due: {type: [string, "null"]}, labels: {type: object, additionalProperties: {type: string}}}, required: [kind], additionalProperties: false}
          - {type: object, properties: {kind: {const: bag}, due: {type: string}, more: {type: object}}, required: [kind, due], additionalProperties: false}
          - {type: string, minLength: 3}
          - {type: "null"}
        default: null
      one:
        oneOf:
          - {type: object, properties: {kind: {const: a}}, required: [kind], patternProperties: {"^x-": {type: integer}}, additionalProperties: false}
          - {type: object, properties: {kind: {const: b}, note: {type: [string, "null"]}}, required: [kind], additionalProperties: {type: [string, "null"]}}
        default: {kind: a}
      two:
        anyOf:
          - {type: object, properties: {a: {type: integer}}, required: [a], additionalProperties: false}
          - {type: object, properties: {b: {type: integer}}, required: [b], additionalProperties: false}
        default: {a: 1}
      mixed: {type: [object, string], additionalProperties: {type: integer}, default: {}}
      held: {type: object, additionalProperties: {anyOf: [{type: object, additionalProperties: {type: integer}}, {type: integer}]}, default: {}}
      both: {allOf: [{type: object, properties: {name: {type: string}}, required: [name]}, {type: object, additionalProperties: {type: string}}], default: {name: n}}
    history: true
    guard: open
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({ "registry/service.yaml": registry });
      service = await startTestService(engine, declared);
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    /** A document of this body, patched; what its member is then. */
    const patched = async (body: object, patch: object): Promise<Answer> => {
      const made = await service.post("/notes", { text: "t", ...body });
      expect([made.status, made.body.context]).toEqual([201, undefined]);
      const answer = await service.call("PATCH", `/notes/${made.body.id}?rev=1`, { body: patch });
      if (answer.status === 200) {
        const read = await service.call("GET", `/notes/${made.body.id}`);
        expect(read.body).toEqual(answer.body.data);
      }
      return answer;
    };

    const cases: readonly (readonly [string, object, object, object])[] = [
      [
        "a member of a map",
        { labels: { a: "1", b: "2" } },
        { labels: { a: null } },
        { labels: { b: "2" } },
      ],
      [
        "a member that is not there",
        { labels: { a: "1" } },
        { labels: { z: null } },
        { labels: { a: "1" } },
      ],
      [
        "one whose name has dots",
        { labels: { due: "1", "a.b": "2" } },
        { labels: { due: null, "a.b": null } },
        { labels: {} },
      ],
      [
        "a member by a pattern",
        { counts: { "x-a": 1, "x-b": 2 } },
        { counts: { "x-a": null, "x-c": 3 } },
        { counts: { "x-b": 2, "x-c": 3 } },
      ],
      [
        "an object of a map",
        { shops: { a: { name: "A" }, b: { name: "B" } } },
        { shops: { a: null } },
        { shops: { b: { name: "B" } } },
      ],
      [
        "a member of an object of a map",
        { shops: { a: { name: "A", hours: { mon: "9", tue: "10" } } } },
        { shops: { a: { hours: { mon: null } } } },
        { shops: { a: { name: "A", hours: { tue: "10" } } } },
      ],
      [
        "a declared member of an open object",
        { open: { kind: "k", size: 1, more: true } },
        { open: { size: null, more: null } },
        { open: { kind: "k" } },
      ],
      [
        "a member deep in an open object",
        { free: { a: { b: { c: { d: { e: 1, f: 2 } } } } } },
        { free: { a: { b: { c: { d: { e: null } } } } } },
        { free: { a: { b: { c: { d: { f: 2 } } } } } },
      ],
      [
        "nothing of what a patch brings",
        { free: {} },
        { free: { new: { a: null, b: { c: null, d: 1 } } } },
        { free: { new: { b: { d: 1 } } } },
      ],
      [
        "an array as a whole",
        { free: { a: [{ b: 1, c: null }] } },
        { free: { a: [{ b: null }] } },
        { free: { a: [{ b: null }] } },
      ],
      [
        "a member of a type that holds itself",
        { deep: chain(6) },
        { deep: cut(6) },
        { deep: chain(6, true) },
      ],
      [
        "a member of one of several forms",
        { either: { kind: "box", size: 1, labels: { a: "1" } } },
        { either: { size: null } },
        { either: { kind: "box", labels: { a: "1" } } },
      ],
      [
        "a member of a map within one of several forms",
        { either: { kind: "box", labels: { a: "1", b: "2" } } },
        { either: { labels: { a: null } } },
        { either: { kind: "box", labels: { b: "2" } } },
      ],
      [
        "a member of an open object within one of several forms",
        { either: { kind: "bag", due: "d", more: { a: { b: 1, c: 2 } } } },
        { either: { more: { a: { b: null } } } },
        { either: { kind: "bag", due: "d", more: { a: { c: 2 } } } },
      ],
      [
        "what another form has, where a patch changes the form",
        { either: { kind: "box", size: 1 } },
        { either: { kind: "bag", due: "d", size: null } },
        { either: { kind: "bag", due: "d" } },
      ],
      [
        "the form that it had, of two",
        { two: { a: 1 } },
        { two: { a: null, b: 2 } },
        { two: { b: 2 } },
      ],
      [
        "a member by a pattern of one of several forms",
        { one: { kind: "a", "x-a": 1, "x-b": 2 } },
        { one: { "x-a": null } },
        { one: { kind: "a", "x-b": 2 } },
      ],
      [
        "a member of a map that may be a text",
        { mixed: { a: 1, b: 2 } },
        { mixed: { a: null } },
        { mixed: { b: 2 } },
      ],
      [
        "a member of one of several forms within a map",
        { held: { a: { b: 1, c: 2 }, d: 1 } },
        { held: { a: { b: null }, d: null } },
        { held: { a: { c: 2 } } },
      ],
      [
        "a member of an object of several parts",
        { both: { name: "n", a: "1" } },
        { both: { a: null } },
        { both: { name: "n" } },
      ],
    ];
    test("null is a value of the member that may be null in each form it stands in", async () => {
      const answer = await patched(
        { one: { kind: "b", note: "n", due: "d" }, either: "text" },
        { one: { note: null }, either: null },
      );
      expect(answer.body.data).toMatchObject({
        one: { kind: "b", note: null, due: "d" },
        either: null,
      });
    });

    test("null removes the member that may be null in one form and not in another", async () => {
      const answer = await patched(
        { either: { kind: "box", due: "d" } },
        { either: { due: null } },
      );
      expect(answer.body.data.either).toEqual({ kind: "box" });
    });

    test("null is a value of a declared member that is nullable, within a map too", async () => {
      const body = { shops: { a: { name: "A", closed: "monday" } } };
      const answer = await patched(body, { shops: { a: { closed: null } } });
      expect([answer.status, answer.body.data.shops]).toEqual([
        200,
        { a: { name: "A", closed: null } },
      ]);
    });

    test.each(cases)("null removes %s", async (_what, body, patch, expected) => {
      const answer = await patched(body, patch);
      expect([answer.status, answer.body.context]).toEqual([200, undefined]);
      expect(answer.body.data).toMatchObject(expected);
      const [name = ""] = Object.keys(expected);
      expect(answer.body.data[name]).toEqual((expected as Record<string, unknown>)[name]);
    });

    test.each([
      [
        "what must be there",
        { shops: { a: { name: "A" } } },
        { shops: { a: { name: null } } },
        "/shops/a/name",
      ],
      [
        "what an open object requires",
        { open: { kind: "k" } },
        { open: { kind: null } },
        "/open/kind",
      ],
      [
        "what a form requires",
        { either: { kind: "bag", due: "d" } },
        { either: { due: null } },
        "/either/due",
      ],
    ])("null does not remove %s", async (_what, body, patch, pointer) => {
      const answer = await patched(body, patch);
      expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
      const pointers = answer.body.context.errors.map(({ path }: { path: string }) => path);
      expect(pointers).toContain(pointer);
    });

    test.each([
      [{ labels: { a: "" } }, "/labels/a"],
      [{ labels: { a: 1 } }, "/labels/a"],
      [{ counts: { a: 1 } }, "/counts/a"],
      [{ shops: { a: { colour: "red" } } }, "/shops/a/colour"],
      [{ text: null }, "/text"],
      [{ either: { size: "big" } }, "/either"],
      [{ either: { colour: "red" } }, "/either"],
      [{ either: "no" }, "/either"],
      [{ either: 5 }, "/either"],
      [{ one: { y: { z: 1 } } }, "/one"],
      [{ mixed: { a: "text" } }, "/mixed/a"],
      [{ both: { a: 1 } }, "/both/a"],
    ])("what %j brings is still checked", async (patch, pointer) => {
      const answer = await patched({ shops: { a: { name: "A" } } }, patch);
      expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
      const pointers = answer.body.context.errors.map(({ path }: { path: string }) => path);
      expect(pointers).toContain(pointer);
    });

    test("a member of several forms is none that queries know", async () => {
      const answer = await service.post("/notes/list", {
        filters: { $values: { "two.a": 1 } },
      });
      expect([answer.status, answer.body.code]).toEqual([422, "field_not_queryable"]);
    });

    test("removals on an old revision merge with other edits of the same map", async () => {
      const made = await service.post("/notes", { text: "t", labels: { a: "1", b: "2", c: "3" } });
      const path = `/notes/${made.body.id}?rev=1`;
      const one = await service.call("PATCH", path, { body: { labels: { a: null } } });
      expect(one.status).toBe(200);
      const two = await service.call("PATCH", path, { body: { labels: { b: null } } });
      expect([two.status, two.body.data.labels]).toEqual([200, { c: "3" }]);
      const three = await service.call("PATCH", path, { body: { labels: { a: "new" } } });
      expect([three.status, three.body.code]).toEqual([409, "historical_consistency_violation"]);
    });
  });
}

/** So many objects within each other, the last of them at 0, or at 1 where it has lost its next. */
function chain(depth: number, endsWithoutNext = false): object {
  const name = String(depth);
  if (depth === 0) return { name };
  if (depth === 1 && endsWithoutNext) return { name };
  return { name, next: chain(depth - 1, endsWithoutNext) };
}

function cut(depth: number): object {
  return depth === 1 ? { next: null } : { next: cut(depth - 1) };
}
