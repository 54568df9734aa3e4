// What follows from a document's type for queries: its fields, their types, values and canonical
// forms.
import { placesOf } from "../../../load/decimals.js";
import type { FieldType } from "../../../../runtime/contract/fields.js";
import { isScalarType } from "../../../../runtime/contract/query-operators.js";
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import { propertiesOf, withoutNull, type JsonSchema } from "../../../model/json-schema.js";
import type { DocumentModel } from "../../../model/document-model.js";

/** How deep nested members are followed; a recursive type ends here. */
export const maxDepth = 4;

/** A member of a document, with its dotted path; arrays add `[]`. */
interface MemberPath {
  readonly path: string;
  /** The member's own name. */
  readonly name: string;
  readonly schema: JsonSchema;
}

/**
 * Every member of an object schema down to `maxDepth`, parents first. `[]` steps stand for array
 * items.
 */
export function memberPaths(
  schema: JsonSchema,
  resolve: Resolve,
  at = "",
  depth = 0,
): readonly MemberPath[] {
  if (depth >= maxDepth) return [];
  return Object.entries(propertiesOf(resolveSchema(schema, resolve))).flatMap(
    ([name, property]) => {
      const path = at === "" ? name : `${at}.${name}`;
      return [{ path, name, schema: property }, ...membersBelow(property, resolve, path, depth)];
    },
  );
}

/** Members that stand within those of the schema itself, in objects and lists. */
export function nestedMembers(schema: JsonSchema, resolve: Resolve): readonly MemberPath[] {
  return memberPaths(schema, resolve).filter(({ path }) => /[.[]/.test(path));
}

function membersBelow(
  schema: JsonSchema,
  resolve: Resolve,
  path: string,
  depth: number,
): readonly MemberPath[] {
  const value = resolveSchema(withoutNull(schema), resolve);
  if (typeof value === "boolean") return [];
  if (value["type"] === "object") return memberPaths(value, resolve, path, depth + 1);
  if (value["type"] !== "array") return [];
  const items = (value["items"] ?? true) as JsonSchema;
  return [
    { path: `${path}[]`, name: "items", schema: items },
    ...membersBelow(items, resolve, `${path}[]`, depth + 1),
  ];
}

/** The query type of a member, or undefined if it has none. */
export function fieldType(schema: JsonSchema, resolve: Resolve): FieldType | undefined {
  const value = resolveSchema(withoutNull(schema), resolve);
  if (typeof value === "boolean") return undefined;
  if (value["type"] === "array") {
    const items = fieldType((value["items"] ?? true) as JsonSchema, resolve);
    return items === undefined || items.endsWith("[]") ? undefined : (`${items}[]` as FieldType);
  }
  return scalarType(value);
}

/**
 * The values of an enumeration, or of the elements of an array of them; undefined for other
 * members.
 */
function enumValues(schema: JsonSchema, resolve: Resolve): readonly string[] | undefined {
  const value = resolveSchema(withoutNull(schema), resolve);
  if (typeof value === "boolean") return undefined;
  if (value["type"] === "array") return enumValues((value["items"] ?? true) as JsonSchema, resolve);
  return scalarType(value) === "enum" ? (someValuesOf(value) as readonly string[]) : undefined;
}

/** The values that a schema names, null aside; none if it names no values. */
function someValuesOf(value: Readonly<Record<string, unknown>>): readonly unknown[] {
  const values = "const" in value ? [value["const"]] : value["enum"];
  return Array.isArray(values) ? values.filter((one) => one !== null) : [];
}

/** The type that all values have; undefined if they differ. */
function typeOfValues(values: readonly unknown[]): string | undefined {
  const types = new Set(values.map((one) => (Number.isInteger(one) ? "integer" : typeof one)));
  const [type] = types;
  return types.size === 1 ? type : undefined;
}

function scalarType(value: Readonly<Record<string, unknown>>): FieldType | undefined {
  const values = someValuesOf(value);
  if (Array.isArray(value["enum"]) && values.every((one) => typeof one === "string")) return "enum";
  const type: unknown = value["type"] ?? typeOfValues(values);
  switch (type) {
    case "string": {
      const format = value["format"];
      return format === "uuid" || format === "date" || format === "date-time" ? format : "string";
    }
    case "integer":
    case "number":
    case "boolean":
    case "object":
      return type;
    default:
      return undefined;
  }
}

export function fieldsOf(body: JsonSchema, resolve: Resolve): DocumentModel["fields"] {
  const fields: Record<string, NonNullable<ReturnType<typeof fieldType>>> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const type = path.includes("[]") ? undefined : fieldType(schema, resolve);
    if (type !== undefined) fields[path] = type;
  }
  return fields;
}

/** Scalar members of objects in arrays; members within a further array don't count. */
export function elementsOf(body: JsonSchema, resolve: Resolve): DocumentModel["elements"] {
  const elements: Record<string, Record<string, FieldType>> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const [array = "", member, ...further] = path.split("[].");
    const type = fieldType(schema, resolve);
    if (member === undefined || further.length > 0 || member.includes("[]")) continue;
    if (type !== undefined && isScalarType(type)) (elements[array] ??= {})[member] = type;
  }
  return elements;
}

/**
 * The values of enumerations that queries can name: fields, their elements, members of objects in
 * arrays.
 */
export function enumsOf(body: JsonSchema, resolve: Resolve): DocumentModel["enums"] {
  const enums: Record<string, readonly string[]> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const type = fieldType(schema, resolve);
    const values = enumValues(schema, resolve);
    const [, member, ...further] = path.split("[].");
    const isElement = member !== undefined && further.length === 0 && type === "enum";
    if (values === undefined || type === undefined || path.endsWith("[]")) continue;
    if (isElement || !path.includes("[]")) enums[path] = values;
  }
  return enums;
}

/** The fields that are decimals, with their places. */
export function decimalsOf(body: JsonSchema, resolve: Resolve): DocumentModel["decimals"] {
  const decimals: Record<string, number> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const resolved = resolveSchema(withoutNull(schema), resolve);
    const places = typeof resolved === "boolean" ? undefined : placesOf(resolved);
    const isDecimal = fieldType(schema, resolve) === "number" && !path.includes("[]");
    if (isDecimal && places !== undefined) decimals[path] = places;
  }
  return decimals;
}

export function canonicalOf(body: JsonSchema, resolve: Resolve): DocumentModel["canonical"] {
  const canonical: Record<string, "uuid" | "date-time"> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const type = fieldType(schema, resolve);
    if (type === "uuid" || type === "date-time") canonical[path] = type;
  }
  return canonical;
}
