// What the diff calls harmless is harmless: no value that one schema takes is refused by the other.
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Direction } from "../../generator/compare/schema-change.js";
import { compareSchemas } from "../../generator/compare/schemas.js";
import {
  mapSchema,
  type JsonSchema,
  type SchemaObject,
} from "../../generator/model/json-schema.js";

const ajv = new Ajv2020({ strict: false });

/** Ajv's code for some `not: true` and `not: {}` names what is not there; `false` says the same. */
function judgeOf(schema: JsonSchema): (value: unknown) => unknown {
  const takesNothing = ({ not }: SchemaObject): boolean =>
    not === true || JSON.stringify(not) === "{}";
  return ajv.compile(mapSchema(schema, (inner) => (takesNothing(inner) ? false : inner)));
}

/** Schemas without references; bounds only where asked for, since answers may have them loosened. */
function schemas(withBounds: boolean): fc.Arbitrary<JsonSchema> {
  const bound = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
  const bounds = (...names: readonly string[]) =>
    withBounds
      ? fc.record(Object.fromEntries(names.map((name) => [name, bound])))
      : fc.constant({});
  const { schema } = fc.letrec<{ schema: JsonSchema; scalar: JsonSchema }>((tie) => ({
    scalar: fc.oneof(
      fc.constantFrom<JsonSchema>({ type: "boolean" }, { type: "null" }, true),
      fc
        .subarray(["a", "bb", "ccc"], { minLength: 1 })
        .map((values): JsonSchema => ({ type: "string", enum: values })),
      bounds("minLength", "maxLength").map((rest): JsonSchema => ({ type: "string", ...rest })),
      fc
        .tuple(fc.constantFrom("integer", "number"), bounds("minimum", "maximum"))
        .map(([type, rest]): JsonSchema => ({ type, ...rest })),
    ),
    schema: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      tie("scalar"),
      fc
        .tuple(
          fc.record({ a: tie("schema"), b: tie("schema"), c: tie("schema") }, { requiredKeys: [] }),
          fc.subarray(["a", "b", "c"]),
          fc.boolean(),
        )
        .map(([properties, required, isOpen]): JsonSchema => ({
          type: "object",
          properties,
          required: required.filter((name) => Object.hasOwn(properties, name)),
          // Who reads an answer passes over members that it does not know.
          additionalProperties: isOpen || !withBounds,
        })),
      fc
        .tuple(tie("schema"), bounds("minItems", "maxItems"))
        .map(([items, rest]): JsonSchema => ({ type: "array", items, ...rest })),
      fc
        .tuple(tie("schema"), tie("schema"), fc.boolean())
        .map(([left, right, isClosed]): JsonSchema => ({
          anyOf: [left, right],
          ...(isClosed ? { required: ["a"] } : {}),
        })),
      fc.tuple(tie("schema"), tie("schema")).map((allOf): JsonSchema => ({ allOf })),
      fc
        .tuple(tie("scalar"), tie("schema"), tie("schema"), fc.boolean())
        .map(([condition, then, other, hasElse]): JsonSchema => ({
          if: condition,
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then,
          ...(hasElse ? { else: other } : {}),
        })),
      fc
        .tuple(tie("scalar"), tie("schema"))
        .map(([not, rest]): JsonSchema => ({ not, allOf: [rest] })),
      fc.constantFrom<JsonSchema>(
        { enum: ["a", 1] },
        { enum: [1, null] },
        { const: 1 },
        { type: "object", required: ["z"] },
        { type: "object", dependentRequired: { a: ["b"] } },
        { type: "object", patternProperties: { "^b": { type: "string" } } },
        withBounds ? { type: ["string", "integer"], minLength: 2 } : { type: ["string", "null"] },
      ),
    ),
  }));
  return schema.map((given) => JSON.parse(JSON.stringify(given)) as JsonSchema);
}

/** A schema, and the same with one edit somewhere in it. */
function pairs(withBounds: boolean): fc.Arbitrary<readonly [JsonSchema, JsonSchema]> {
  const schema = schemas(withBounds);
  return fc.tuple(schema, schema, fc.nat(), fc.nat()).map(([old, other, place, choice]) => {
    let left = place % countOf(old);
    const edited = mapSchema(structuredClone(old), (inner) =>
      (left -= 1) === -1 ? edit(inner, other, choice) : inner,
    );
    return [old, edited] as const;
  });
}

function countOf(schema: JsonSchema): number {
  let count = 0;
  mapSchema(schema, (inner) => {
    count += 1;
    return inner;
  });
  return Math.max(1, count);
}

/** Another schema in its place, or beside it, or one of its keywords left out, or changed. */
function edit(schema: SchemaObject, other: JsonSchema, choice: number): JsonSchema {
  const keywords = Object.keys(schema);
  const keyword = keywords[choice % keywords.length] ?? "";
  const { [keyword]: value, ...rest } = schema;
  switch (choice % 5) {
    case 0:
      return other;
    case 1:
      return { anyOf: [schema, other] };
    case 2:
      return keyword === "type" ? schema : rest;
    case 3:
      if (Array.isArray(value) && value.length > 1) return { ...rest, [keyword]: value.slice(1) };
      if (typeof value === "number")
        return { ...rest, [keyword]: value + (choice % 2 === 0 ? 1 : -1) };
      return typeof value === "boolean" ? { ...rest, [keyword]: !value } : schema;
    default:
      return typeof schema["type"] === "string" && schema["type"] !== "null"
        ? { ...schema, type: [schema["type"], "null"] }
        : schema;
  }
}

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, true, "", "a", "bb", "ccc", "dddd", 0, 1, 2.5, 4, -1),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.record(
      { a: tie("value"), b: tie("value"), c: tie("value"), d: tie("value") },
      { requiredKeys: [] },
    ),
  ),
})).value;

function isBreaking(before: JsonSchema, after: JsonSchema, direction: Direction): boolean {
  let found = false;
  compareSchemas(before, after, {
    before: {},
    after: {},
    today: "2026-01-01",
    direction,
    note: ({ level }) => (found ||= level === "breaking"),
    meet: () => undefined,
  });
  return found;
}

test.each<[Direction, boolean]>([
  ["input", true],
  ["answers", false],
])("of %s", (direction, withBounds) => {
  let harmless = 0;
  fc.assert(
    fc.property(
      pairs(withBounds),
      fc.array(values, { minLength: 20, maxLength: 40 }),
      ([old, next], given) => {
        if (isBreaking(old, next, direction)) return;
        if (JSON.stringify(old) !== JSON.stringify(next)) harmless += 1;
        const [takes, gives] = direction === "input" ? [next, old] : [old, next];
        const [isTaken, isGiven] = [judgeOf(takes), judgeOf(gives)];
        for (const value of given)
          if (isGiven(value))
            expect([isTaken(value), JSON.stringify(value)]).toEqual([true, JSON.stringify(value)]);
      },
    ),
    { numRuns: 3_000 },
  );
  // Otherwise the test has nothing to say.
  expect(harmless).toBeGreaterThan(75);
});

test("a schema has not changed from itself", () => {
  fc.assert(
    fc.property(
      schemas(true),
      fc.constantFrom<Direction>("input", "answers"),
      (schema, direction) => {
        compareSchemas(schema, structuredClone(schema), {
          before: {},
          after: {},
          today: "2026-01-01",
          direction,
          note: (change) => expect.fail(JSON.stringify(change)),
          meet: () => undefined,
        });
      },
    ),
  );
});

test.each<[string, SchemaObject, boolean]>([
  ["additionalProperties", { additionalProperties: { $ref: "#/types/T" } }, false],
  ["patternProperties", { patternProperties: { "^a": { $ref: "#/types/T" } } }, false],
  ["propertyNames", { propertyNames: { $ref: "#/types/T" } }, false],
  ["not", { not: { anyOf: [{ $ref: "#/types/T" }] } }, true],
  ["not in not", { not: { not: { $ref: "#/types/T" } } }, false],
])("types within %s are compared, whatever changes beside them", (_title, schema, isNegated) => {
  for (const beside of [{}, { maxProperties: 9 }, { description: "Otherwise." }]) {
    const met: unknown[] = [];
    compareSchemas(
      { type: "object", ...schema },
      { type: "object", ...schema, ...beside },
      {
        before: {},
        after: {},
        today: "2026-01-01",
        direction: "input",
        note: () => undefined,
        meet: (from, to, negated = false) => met.push([from, to, negated]),
      },
    );
    expect(met).toEqual([["T", "T", isNegated]]);
  }
});
