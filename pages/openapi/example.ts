// A value that fits a schema, to begin with.
import { resolveReference, type OpenApi, type Schema } from "./document.js";

/** Levels down to which an example that is whole has everything: beyond, sizes multiply. */
const wholeDepth = 4;

/** A new UUID stands where an id is asked for that nobody knows yet. */
const someId = "01890000-0000-7000-8000-000000000001";
const deepest = 6;

const texts: Readonly<Record<string, string>> = {
  uuid: someId,
  "date-time": "2026-01-31T08:00:00.000Z",
  date: "2026-01-31",
  time: "08:00:00Z",
  email: "ada@example.test",
  uri: "https://example.test/",
  duration: "PT15M",
};

/** Whether an example has just what is required, or everything, with an item in each list. */
export type Extent = "least" | "whole";

/** An example of a schema: its own, or one that is made of its members. */
export function exampleOf(
  document: OpenApi,
  given: Schema | boolean | undefined,
  extent: Extent = "least",
  depth = 0,
): unknown {
  if (given === undefined || typeof given === "boolean" || depth > deepest) return null;
  const schema = resolveReference<Schema>(document, given as Schema);
  const [own] = schema.examples ?? [];
  if (own !== undefined) return own;
  if ("default" in schema) return schema.default;
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const inner = (one: Schema | boolean | undefined): unknown =>
    exampleOf(document, one, depth + 1 < wholeDepth ? extent : "least", depth + 1);
  const [option] = schema.anyOf ?? schema.oneOf ?? [];
  if (option !== undefined && schema.properties === undefined) return inner(option);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (type === "string") return textOf(schema);
  if (type === "integer" || type === "number") return schema["minimum"] ?? 0;
  if (type === "boolean") return false;
  if (type === "array") return extent === "least" ? [] : [inner(schema.items)];
  if (type === "null") return null;
  const { properties = {}, required = [] } = schema;
  const names = extent === "least" ? required : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, inner(properties[name])]));
}

function textOf(schema: Schema): string {
  const least = typeof schema["minLength"] === "number" ? schema["minLength"] : 0;
  return texts[schema.format ?? ""] ?? (least > 6 ? "x".repeat(least) : "a text");
}
