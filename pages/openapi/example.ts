// A value that fits a schema, to begin with.
import { resolveReference, type OpenApi, type Schema } from "./document.js";

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

/** An example of a schema: its own, or one with just what is required. */
export function exampleOf(
  document: OpenApi,
  given: Schema | boolean | undefined,
  depth = 0,
): unknown {
  if (given === undefined || typeof given === "boolean" || depth > deepest) return null;
  const schema = resolveReference<Schema>(document, given as Schema);
  const [own] = schema.examples ?? [];
  if (own !== undefined) return own;
  if ("default" in schema) return schema.default;
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [option] = schema.anyOf ?? schema.oneOf ?? [];
  if (option !== undefined && schema.properties === undefined)
    return exampleOf(document, option, depth + 1);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (type === "string") return textOf(schema);
  if (type === "integer" || type === "number") return schema["minimum"] ?? 0;
  if (type === "boolean") return false;
  if (type === "array") return [];
  if (type === "null") return null;
  const required = schema.required ?? [];
  return Object.fromEntries(
    required.map((name) => [name, exampleOf(document, schema.properties?.[name], depth + 1)]),
  );
}

function textOf(schema: Schema): string {
  const least = typeof schema["minLength"] === "number" ? schema["minLength"] : 0;
  return texts[schema.format ?? ""] ?? (least > 6 ? "x".repeat(least) : "a text");
}
