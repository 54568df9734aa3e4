// JSON Schema as the frozen registry holds it: 2020-12, every $ref of the form #/types/<Name>.
import { mapRecord } from "./records.js";

/** A schema: a boolean, or an object of keywords. */
export type JsonSchema = boolean | SchemaObject;

export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

/** The name of the type that a schema refers to, or undefined. */
export function referredType(schema: JsonSchema): string | undefined {
  if (typeof schema === "boolean") return undefined;
  const ref = schema["$ref"];
  return typeof ref === "string" && ref.startsWith("#/types/")
    ? ref.slice("#/types/".length)
    : undefined;
}

/** A reference to a type of the registry. */
export function refTo(type: string): SchemaObject {
  return { $ref: `#/types/${type}` };
}

/** The schema with null allowed as well. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (isNullable(schema)) return schema;
  if (
    typeof schema === "object" &&
    typeof schema["type"] === "string" &&
    schema["enum"] === undefined &&
    schema["const"] === undefined
  ) {
    return { ...schema, type: [schema["type"], "null"] };
  }
  return { anyOf: [schema, { type: "null" }] };
}

/** Whether the schema allows null. References are not followed. */
export function isNullable(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return schema;
  const type = schema["type"];
  if (type === "null" || (Array.isArray(type) && type.includes("null"))) return true;
  const enumeration = schema["enum"];
  if (Array.isArray(enumeration) && type === undefined) return enumeration.includes(null);
  return alternativesOf(schema).some(isNullable);
}

/** The schemas of which a value fits one or more, by `anyOf` or `oneOf`. */
export function alternativesOf(schema: SchemaObject): readonly JsonSchema[] {
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(alternatives) ? (alternatives as readonly JsonSchema[]) : [];
}

/**
 * The schema of the values other than null, for the usual ways to allow null; any other schema is
 * returned as it is.
 */
export function withoutNull(schema: JsonSchema): JsonSchema {
  if (typeof schema === "boolean") return schema;
  const type = schema["type"];
  if (Array.isArray(type)) {
    const rest = type.filter((name) => name !== "null");
    return { ...schema, type: rest.length === 1 ? rest[0] : rest };
  }
  const alternatives = alternativesOf(schema);
  const [only, ...others] = alternatives.filter((option) => !isNullable(option));
  const isUsual = alternatives.length === 2 && only !== undefined && others.length === 0;
  return isUsual ? only : schema;
}

/** Members of an object schema by name. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  if (typeof schema === "boolean") return {};
  return (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

/** Names of the members that an object schema requires. */
export function requiredOf(schema: JsonSchema): readonly string[] {
  return typeof schema === "object" ? ((schema["required"] ?? []) as readonly string[]) : [];
}

/** An object schema that allows no other members. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): SchemaObject {
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** An object without one of its members. */
export function withoutMember(schema: JsonSchema, name: string): SchemaObject {
  const { [name]: _left, ...members } = propertiesOf(schema);
  return objectSchema(
    members,
    requiredOf(schema).filter((one) => one !== name),
  );
}

/**
 * A copy of the schema with `change` applied to every subschema and to itself, innermost first.
 * Booleans stay.
 */
export function mapSchema(
  schema: JsonSchema,
  change: (schema: SchemaObject) => JsonSchema,
): JsonSchema {
  if (typeof schema === "boolean") return schema;
  const result: Record<string, unknown> = {};
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    // The common case: most keywords have a plain value.
    if (typeof value !== "object" || value === null) {
      result[keyword] = value;
    } else if (mapKeywords.has(keyword)) {
      result[keyword] = mapRecord(value as Record<string, JsonSchema>, (inner) =>
        mapSchema(inner, change),
      );
    } else if (listKeywords.has(keyword)) {
      result[keyword] = (value as JsonSchema[]).map((inner) => mapSchema(inner, change));
    } else if (schemaKeywords.has(keyword)) {
      result[keyword] = mapSchema(value as JsonSchema, change);
    } else {
      result[keyword] = value;
    }
  }
  return change(result);
}

/** Keywords whose value is a map of schemas. */
export const mapKeywords: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
]);
/** Keywords whose value is a list of schemas. */
export const listKeywords: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "prefixItems",
]);
/** Keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);

export const uuidSchema: SchemaObject = { type: "string", format: "uuid" };
export const revisionSchema: SchemaObject = { type: "integer", minimum: 1 };

/** Words about a schema that no value depends on. */
const describing = new Set(["description", "title", "examples", "deprecated", "was"]);

/** A schema without what only people read. */
export function omitDescriptions(schema: unknown): unknown {
  // Members of an object may be called as a keyword is.
  const keep = function (this: unknown, key: string, value: unknown): unknown {
    const isKeyword =
      typeof value === "string" || typeof value === "boolean" || Array.isArray(value);
    const isDays =
      key === "deprecated" && typeof value === "object" && value !== null && "since" in value;
    return (isKeyword && describing.has(key)) || isDays || key.startsWith("x-") ? undefined : value;
  };
  return JSON.parse(JSON.stringify(schema, keep));
}
