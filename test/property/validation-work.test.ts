// Validation takes time linear in the bytes of a value, for every schema that `check` accepts. Steps are counted: one for
// each function and each turn of a loop in compiled validators, and for each object that the cutting of answers copies.
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileStandalone } from "../../generator/compile/ajv-standalone.js";
import { checkedSchemas, checkName } from "../../generator/compile/checked-schemas.js";
import { validationFaults } from "../../generator/check/nested-work.js";
import { CutPrinter, withNamedOptions, withoutProven } from "../../generator/emit/answer-cuts.js";
import type { JsonSchema, SchemaObject } from "../../generator/model/json-schema.js";
import { functionName } from "../../generator/model/validator-plan.js";
import {
  codePointLength,
  formats,
  isMultipleOf,
  joinErrors,
  jsonEqual,
} from "../../runtime/contract/validation.js";
import { forgetItems, repeatedItems } from "../../runtime/contract/repeated-items.js";
import { cut } from "../../runtime/operations/plain-json.js";

type Types = Readonly<Record<string, JsonSchema>>;
interface Counted {
  readonly validate: (value: unknown) => number;
  readonly answer: (value: unknown) => number;
}

const names = ["A", "B", "C"] as const;
const members = ["kind", "child", "items", "text"] as const;
const to = (name: string): SchemaObject => ({ $ref: `#/types/${name}` });

/** Compiled functions of the type `A`, which count their steps up to `most`. */
function counted(types: Types, most = 300_000): Counted {
  const plan = { name: "root", schema: to("A"), typeName: "A" };
  const schemas = withNamedOptions(checkedSchemas([plan], { types }));
  const cuts = new CutPrinter(schemas, functionName);
  const root = cuts.cutOf(checkName(plan, { types }));
  const check = functionName(checkName(plan, { types }));
  const counting = (text: string): string =>
    text
      .replaceAll(/^(function .*\{)$/gm, "$1 step();")
      .replaceAll(/^(for\(.*\{)(.*)$/gm, "$1 step(); $2");
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (steps > most) throw new Error("too many steps");
  };
  const counts =
    (name: "plain" | "members" | "list" | "tuple") =>
    (...given: never[]) => {
      step();
      return (cut[name] as (...all: never[]) => unknown)(...given);
    };
  const helpers = {
    codePointLength,
    formats,
    isMultipleOf,
    joinErrors,
    jsonEqual,
    repeatedItems,
    step,
    cut: {
      ...cut,
      plain: counts("plain"),
      members: counts("members"),
      list: counts("list"),
      tuple: counts("tuple"),
    },
  };
  const built = (text: string): ((value: unknown) => unknown) =>
    // oxlint-disable-next-line no-new-func -- the text of a compiled module
    new Function(...Object.keys(helpers), text)(...Object.values(helpers)) as () => unknown;
  const validate = built(
    `${counting(compileStandalone(checkedSchemas([plan], { types })))}\nreturn ${check};`,
  );
  const answer = built(
    `${counting(`${cuts.text}\n${compileStandalone(withoutProven(schemas))}`)}\nreturn (value) => ${check}(${root}(value));`,
  );
  const count = (call: (value: unknown) => unknown) => (value: unknown) => {
    steps = 0;
    forgetItems();
    call(value);
    return steps;
  };
  return { validate: count(validate), answer: count(answer) };
}

const scalar = fc.constantFrom<JsonSchema>(
  { type: "string" },
  { type: ["string", "null"] },
  { const: "x" },
  { enum: ["x", "y"] },
  { type: "integer" },
  true,
);

/** Schemas that refer to each other: unions with and without a kind, parts that overlap, lists of all sorts. */
const schema: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>(
  (tie) => ({
    object: fc
      .record({
        properties: fc.record(
          {
            kind: fc.constantFrom<JsonSchema>({ const: "x" }, { const: "y" }, { enum: ["x", "z"] }),
            child: tie("schema"),
            items: tie("schema"),
            text: scalar,
          },
          { requiredKeys: [] },
        ),
        required: fc.subarray(["kind", "child"]),
        isClosed: fc.boolean(),
        others: fc.option(
          fc.constantFrom<SchemaObject>(
            { patternProperties: { "^c": to("A") } },
            { additionalProperties: to("B") },
            { propertyNames: { maxLength: 9 } },
          ),
          { nil: {} },
        ),
      })
      .map(({ properties, required, isClosed, others }): JsonSchema => ({
        type: "object",
        properties: properties as Types,
        required,
        ...(isClosed ? { additionalProperties: false } : others),
      })),
    schema: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.constantFrom(...names.map(to)),
      tie("object"),
      tie("schema").map((items): JsonSchema => ({ type: "array", items })),
      tie("schema").map((items): JsonSchema => ({ type: "array", items, uniqueItems: true })),
      fc
        .tuple(tie("schema"), tie("schema"))
        .map(([first, items]): JsonSchema => ({ type: "array", prefixItems: [first], items })),
      fc.tuple(tie("schema"), tie("schema")).map((anyOf): JsonSchema => ({ anyOf })),
      fc.tuple(tie("object"), tie("object"), tie("object")).map((oneOf): JsonSchema => ({ oneOf })),
      fc.tuple(tie("object"), tie("object")).map((allOf): JsonSchema => ({ allOf })),
      tie("object").map((not): JsonSchema => ({ not })),
    ),
  }),
).schema;

const registries: fc.Arbitrary<Types> = fc.record({
  A: fc.tuple(schema, schema).map(([one, other]): JsonSchema => ({ anyOf: [one, other] })),
  B: schema,
  C: schema,
});

/** A part of a value, which is nested in itself. */
const layer = fc.record({
  name: fc.constantFrom(...members, "other"),
  kind: fc.constantFrom("x", "y", "z", "q", undefined),
  shape: fc.constantFrom("object", "list", "pair"),
});

/** A value in which the layers repeat until it is as deep. */
function nested(
  layers: readonly { name: string; kind: string | undefined; shape: string }[],
  depth: number,
): unknown {
  let value: unknown = "x";
  for (let level = 0; level < depth; level += 1) {
    const { name = "child", kind, shape } = layers[level % layers.length] ?? {};
    const wrapped = shape === "object" ? value : shape === "list" ? [value] : ["x", value];
    value = { ...(kind === undefined ? {} : { kind }), [name]: wrapped };
  }
  return value;
}

const depths = [6, 12, 24, 48] as const;
/** Every byte may be looked at by some schemas, but by no more of them at a greater depth. */
const growth = 4;

test("of nested values, whatever schema is accepted", () => {
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      registries,
      fc.array(fc.array(layer, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 8 }),
      (types, values) => {
        if (isEndless(types)) return;
        if (validationFaults(types).length > 0) {
          refused += 1;
          return;
        }
        accepted += 1;
        const compiled = counted(types);
        for (const call of [compiled.validate, compiled.answer])
          for (const layers of values) {
            const each = depths.map((depth) => {
              const value = nested(layers, depth);
              return (call(value) + 10) / JSON.stringify(value).length;
            });
            expect([Math.max(...each) <= growth * (each[0] ?? 0), layers, each]).toEqual([
              true,
              layers,
              each,
            ]);
          }
      },
    ),
    { numRuns: 400 },
  );
  expect(accepted).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(20);
});

test("of lists of a named type in which every item is wrong", () => {
  const item: JsonSchema = {
    type: "object",
    properties: { a: true, b: true },
    required: ["a", "b"],
  };
  const { validate } = counted({ A: { type: "array", items: to("B") }, B: item });
  const wrong = (items: number): unknown => Array.from({ length: items }, () => ({}));
  expect(validate(wrong(16))).toBeGreaterThan(30);
  expect(validate(wrong(64_000))).toBe(validate(wrong(16)));
});

/** Whether a type is its own part at the same value, which another diagnostic refuses (OPW022). */
function isEndless(types: Types): boolean {
  const same = (given: JsonSchema, through: readonly string[]): boolean => {
    if (typeof given === "boolean") return false;
    const type =
      typeof given["$ref"] === "string" ? given["$ref"].slice("#/types/".length) : undefined;
    if (type !== undefined && through.includes(type)) return true;
    if (type !== undefined && same(types[type] ?? true, [...through, type])) return true;
    return (
      ["anyOf", "oneOf", "allOf"].some((keyword) =>
        ((given[keyword] ?? []) as readonly JsonSchema[]).some((part) => same(part, through)),
      ) || same((given["not"] ?? true) as JsonSchema, through)
    );
  };
  return Object.keys(types).some((name) => same(types[name] ?? true, [name]));
}
