// Examples of JSON bodies for OpenAPI: a small value that the schema accepts, so that "try it out"
// starts with one.
import { propertiesOf, referredType, requiredOf, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";

/**
 * Keywords that are respected here; a schema with any other gets no example rather than a wrong
 * one.
 */
const kept = new Set(
  (
    "type enum const default examples description title format pattern minLength maxLength minimum maximum exclusiveMinimum " +
    "minItems maxItems uniqueItems items properties required additionalProperties minProperties maxProperties oneOf anyOf $ref"
  ).split(" "),
);

const formats: Readonly<Record<string, string>> = {
  uuid: "01890000-0000-7000-8000-000000000001",
  date: "2030-01-01",
  "date-time": "2030-01-01T00:00:00.000Z",
  email: "ann@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  uri: "https://example.com",
};

/** Sample texts; the usual patterns accept one of them. */
const texts = [
  "a text",
  "a longer text",
  "a",
  "A",
  "AB",
  "a.b",
  "12",
  "2030-01-01",
  "https://example.com/a",
];

const deepest = 12;

/** A small value that the schema accepts; undefined if none is easily found. */
export function exampleOf(schema: JsonSchema, types: RegistryModel["types"], depth = 0): unknown {
  if (typeof schema === "boolean") return schema ? {} : undefined;
  const { not, ...others } = schema;
  if (not !== undefined) {
    const found = exampleOf(others, types, depth);
    return isWithout(not as JsonSchema, found) ? found : undefined;
  }
  if (depth > deepest || Object.keys(schema).some((keyword) => !kept.has(keyword)))
    return undefined;
  const type = referredType(schema);
  if (type !== undefined) return exampleOf(own(types, type) ?? false, types, depth + 1);
  for (const keyword of ["const", "default"]) if (keyword in schema) return schema[keyword];
  for (const keyword of ["examples", "enum"])
    if (Array.isArray(schema[keyword])) return schema[keyword][0];
  const { oneOf, anyOf, ...rest } = schema;
  const alternatives = (oneOf ?? anyOf) as readonly JsonSchema[] | undefined;
  if (alternatives !== undefined) return ofAlternative(rest, alternatives, types, depth);
  return ofType(schema, types, depth);
}

/**
 * Whether an object lacks one of the members that `not: { required }` forbids to have together.
 * False for any other `not`.
 */
function isWithout(not: JsonSchema, found: unknown): boolean {
  if (typeof not !== "object" || Object.keys(not).join() !== "required") return false;
  if (typeof found !== "object" || found === null) return false;
  return requiredOf(not).some((name) => !Object.hasOwn(found, name));
}

/**
 * An example of the first alternative that has one. Beside `type` or `properties`, alternatives may
 * only require members.
 */
function ofAlternative(
  rest: Exclude<JsonSchema, boolean>,
  alternatives: readonly JsonSchema[],
  types: RegistryModel["types"],
  depth: number,
): unknown {
  const isWhole = rest["properties"] === undefined && rest["type"] === undefined;
  for (const one of alternatives) {
    const more = typeof one === "object" && Object.keys(one).join() === "required";
    if (!isWhole && !more) return undefined;
    const whole = isWhole ? one : { ...rest, required: [...requiredOf(rest), ...requiredOf(one)] };
    const found = exampleOf(whole, types, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofType(
  schema: Exclude<JsonSchema, boolean>,
  types: RegistryModel["types"],
  depth: number,
): unknown {
  const declared = schema["type"];
  const [type] = Array.isArray(declared) ? declared : [declared];
  switch (type) {
    case "string":
      return ofText(schema);
    case "integer":
    case "number":
      return ofNumber(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array": {
      const least = Number(schema["minItems"] ?? 0);
      if (least > 1) return undefined;
      const item =
        least === 0 ? undefined : exampleOf(schema["items"] as JsonSchema, types, depth + 1);
      return least === 0 ? [] : item === undefined ? undefined : [item];
    }
    case "object":
      return ofObject(schema, types, depth);
    default:
      return undefined;
  }
}

function ofText({ format, pattern, minLength, maxLength }: Exclude<JsonSchema, boolean>): unknown {
  const [least, most] = [Number(minLength ?? 0), Number(maxLength ?? Infinity)];
  const given = typeof format === "string" ? [formats[format]] : [...texts, "a".repeat(least)];
  const matches = typeof pattern === "string" ? new RegExp(pattern, "u") : /^/;
  return given.find(
    (text) =>
      text !== undefined && text.length >= least && text.length <= most && matches.test(text),
  );
}

function ofNumber({ minimum, exclusiveMinimum, maximum }: Exclude<JsonSchema, boolean>): unknown {
  const least = Number(minimum ?? 1);
  const above = exclusiveMinimum === undefined ? least : Number(exclusiveMinimum) + 1;
  const value = Math.max(least, above);
  return value <= Number(maximum ?? Infinity) && Number.isInteger(value) ? value : undefined;
}

function ofObject(
  schema: Exclude<JsonSchema, boolean>,
  types: RegistryModel["types"],
  depth: number,
): unknown {
  const properties = propertiesOf(schema);
  const least = Number(schema["minProperties"] ?? 0);
  const required = requiredOf(schema);
  const names = [...new Set([...required, ...Object.keys(properties)])];
  const members = names
    .slice(0, Math.max(required.length, least))
    .map((name) => [name, exampleOf(own(properties, name) ?? true, types, depth + 1)] as const);
  const isWhole = members.length >= least && members.every(([, value]) => value !== undefined);
  return isWhole ? Object.fromEntries(members) : undefined;
}
