// Random types: fields in every notation that the format has.
import type { Draw } from "./draw.js";
import { fieldNames, texts, wrongFieldNames } from "./samples.js";

type Json = Readonly<Record<string, unknown>>;

const scalars = ["string", "uuid", "date-time", "integer", "number", "boolean"];
const formats = ["date", "email", "hostname", "ipv4", "uri", "uuid", "date-time"];
const described = { description: texts[1], deprecated: true };

/** A map of fields, or a JSON Schema of an object. `types` are names that may be referred to. */
export function objectType(draw: Draw, types: readonly string[]): Json {
  const names = [
    ...draw.some(fieldNames, 1, 5),
    ...(draw.below(200) === 0 ? [draw.pick(wrongFieldNames)] : []),
  ];
  const fields = {
    ...Object.fromEntries(names.map((name) => [name, field(draw, types, 2)])),
    ...(draw.chance(95) ? { title: draw.pick(["string", "string?"]) } : {}),
  };
  if (draw.chance(85)) return fields;
  const definitions = draw.chance(30) ? { Part: objectSchema(draw, types, 1) } : undefined;
  const { properties, ...rest } = objectSchema(draw, types, 2);
  const part = definitions === undefined ? {} : { part: { $ref: "#/$defs/Part" } };
  return {
    ...rest,
    properties: { ...(properties as Json), ...part, title: { type: "string" } },
    ...(definitions === undefined ? {} : { $defs: definitions }),
  };
}

/** Any type: what `types:`, inputs and outputs may be. */
export function anyType(draw: Draw, types: readonly string[]): unknown {
  return draw.chance(70) ? objectType(draw, types) : field(draw, types, 2);
}

function field(draw: Draw, types: readonly string[], depth: number): unknown {
  const kind = draw.below(10);
  if (kind < 5) return shorthand(draw, types);
  if (kind < 6)
    return draw.pick([
      ["open", "done"],
      ["a-b", "it's", 'a "b"'],
      [1, "two", true],
    ]);
  return schema(draw, types, depth);
}

function shorthand(draw: Draw, types: readonly string[]): string {
  const base = draw.chance(20) && types.length > 0 ? draw.pick(types) : draw.pick(scalars);
  return base + draw.pick(["", "", "", "?", "[]", "[]?", "?[]", "[][]"]);
}

/** A schema as it stands within another. */
function schema(draw: Draw, types: readonly string[], depth: number): unknown {
  const inner = (): unknown => schema(draw, types, depth - 1);
  const leaves: readonly (() => unknown)[] = [
    () => ({ type: draw.pick(scalars.slice(3)), ...(draw.chance(20) ? described : {}) }),
    () => ({ type: "string", minLength: 1, maxLength: 20 }),
    () => ({ type: "string", format: draw.pick(formats) }),
    () => ({ type: "string", pattern: draw.pick(["^[a-z]+$", "\\d{2}", '^"/`$', "é"]) }),
    () => ({ type: draw.pick(["integer", "number"]), minimum: 0, exclusiveMaximum: 9 }),
    () => ({ type: ["string", "null"], default: null }),
    () => ({ type: "string", default: draw.pick(texts) }),
    () => ({ const: draw.pick<unknown>(["x", 1, null, { a: [1] }, []]) }),
    () => ({ enum: draw.pick<unknown>([["a", 1, null], [{ a: "b" }, "c"], [true]]) }),
    () => (types.length === 0 ? true : { $ref: draw.pick(types) }),
    () => (types.length === 0 ? {} : { $ref: `#/types/${draw.pick(types)}` }),
    // A reference with more said of it is no alias.
    () => (types.length === 0 ? {} : { $ref: draw.pick(types), description: draw.pick(texts) }),
    () => draw.pick<unknown>([true, {}, { type: "null" }, { type: "object" }, { type: "array" }]),
  ];
  if (depth <= 0 || draw.chance(60)) return draw.pick(leaves)();
  const nests: readonly (() => unknown)[] = [
    () => objectSchema(draw, types, depth - 1),
    () => ({ type: "array", items: inner(), maxItems: 3 }),
    () => ({
      type: "array",
      prefixItems: [inner(), inner()],
      items: draw.chance(50) ? false : inner(),
    }),
    () => ({ anyOf: [inner(), { type: "null" }] }),
    () => ({ oneOf: [inner(), inner()] }),
    () => ({ allOf: [inner(), inner()] }),
    () => ({ not: inner() }),
    () => ({
      type: "object",
      patternProperties: { "^x-": inner() },
      propertyNames: { maxLength: 9 },
    }),
    () => ({ type: "object", additionalProperties: inner(), minProperties: 1 }),
  ];
  return draw.pick(nests)();
}

function objectSchema(draw: Draw, types: readonly string[], depth: number): Json {
  const members = draw.some([...fieldNames, "x-y", "0", "a.b"], 0, 3);
  return {
    type: "object",
    properties: Object.fromEntries(members.map((name) => [name, schema(draw, types, depth)])),
    required: draw.some(members, 0, 2),
    ...(draw.chance(70) ? { additionalProperties: false } : {}),
    ...(draw.chance(10) ? { dependentRequired: { a: ["b"] } } : {}),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    ...(draw.chance(10) ? { if: { required: ["a"] }, then: schema(draw, types, depth) } : {}),
  };
}
