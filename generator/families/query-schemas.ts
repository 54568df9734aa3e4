// JSON Schemas of list requests and pages: filters, sorts, cursors (decisions.md "Documents", "Query language").
import { baseFields, type Fields, type FieldType } from "../../runtime/contract/fields.js";
import { limits } from "../../runtime/contract/limits.js";
import { objectSchema, refTo, type JsonSchema, type SchemaObject } from "../model/json-schema.js";

/** What a list of one document can be asked. */
export interface QueryableDocument {
  readonly fields: Fields;
  readonly softDelete: boolean;
}

/** The fields of a document with the base fields, as queries name them. */
export function queryableFields(document: QueryableDocument): Fields {
  return {
    ...baseFields,
    ...(document.softDelete ? { is_deleted: "boolean" as const } : {}),
    ...document.fields,
  };
}

/** Types that the queries of every document share: what a field of each type can be compared with, and orders. */
export function sharedQueryTypes(fields: Fields): Readonly<Record<string, JsonSchema>> {
  const types: Record<string, JsonSchema> = { SortOrder: sortOrder };
  for (const type of Object.values(fields)) types[constraintName(type)] = constraintSchema(type);
  return types;
}

/** The filter of one document's lists. */
export function filterSchema(fields: Fields): SchemaObject {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [name, refTo(constraintName(type))]),
  );
  return objectSchema({ $values: objectSchema(properties, []) }, []);
}

/** The sorts of one document's lists. */
export function sortSchema(fields: Fields): SchemaObject {
  const names = Object.entries(fields).filter(([, type]) => scalarSchema(type) !== undefined);
  return {
    ...objectSchema(Object.fromEntries(names.map(([name]) => [name, refTo("SortOrder")])), []),
    maxProperties: limits.maxSorts,
  };
}

/** The body of a list operation. `filter`, `sorts` and `field` are the names of the document's query types. */
export function listRequestSchema(
  names: { readonly filter: string; readonly sorts: string; readonly field: string },
  options: { readonly isRaw: boolean; readonly byCursor: boolean; readonly listDeleted: boolean },
): SchemaObject {
  const cursor = { type: "string", description: "A cursor of an earlier page of this very query." };
  const paging: Record<string, JsonSchema> = options.byCursor
    ? { after: cursor, before: cursor }
    : { page: { type: "integer", minimum: 1, maximum: 100_000, default: 1 } };
  return objectSchema(
    {
      ...paging,
      size: {
        type: "integer",
        minimum: 1,
        maximum: limits.maxPageSize,
        default: limits.defaultPageSize,
      },
      filters: refTo(names.filter),
      sorts: refTo(names.sorts),
      ...(options.isRaw
        ? {
            return_fields: {
              type: "array",
              minItems: 1,
              uniqueItems: true,
              items: refTo(names.field),
            },
          }
        : {}),
      ...(options.listDeleted ? { with_deleted: { type: "boolean", default: false } } : {}),
    },
    options.isRaw ? ["return_fields"] : [],
  );
}

/** The names of a document's fields, as projections list them. */
export function fieldNameSchema(fields: Fields): SchemaObject {
  return { type: "string", enum: Object.keys(fields) };
}

const constraintNames: Partial<Record<FieldType, string>> = {
  string: "StringConstraint",
  enum: "StringConstraint",
  uuid: "UuidConstraint",
  date: "DateConstraint",
  "date-time": "DateTimeConstraint",
  integer: "NumberConstraint",
  number: "NumberConstraint",
  boolean: "BooleanConstraint",
};

function constraintName(type: FieldType): string {
  return constraintNames[type] ?? "NullConstraint";
}

function constraintSchema(type: FieldType): JsonSchema {
  const scalar = scalarSchema(type);
  if (scalar === undefined) return { type: "null", description: "Only null can be asked for." };
  return {
    anyOf: [
      scalar,
      { type: "array", items: scalar, maxItems: limits.maxInOperands },
      { type: "null" },
    ],
    description: "A value, a list of values, or null.",
  };
}

function scalarSchema(type: FieldType): JsonSchema | undefined {
  switch (type) {
    case "string":
    case "enum":
      return { type: "string" };
    case "uuid":
    case "date":
    case "date-time":
      return { type: "string", format: type };
    case "integer":
    case "number":
      return { type: "number" };
    case "boolean":
      return { type: "boolean" };
    default:
      return undefined;
  }
}

const sortOrder: JsonSchema = {
  anyOf: [
    { type: "string", enum: ["asc", "desc"] },
    objectSchema(
      {
        dir: { type: "string", enum: ["asc", "desc"] },
        nulls: { type: "string", enum: ["first", "last"] },
      },
      ["dir"],
    ),
  ],
};

/** A page by number or by cursor. */
export function pageSchema(hit: JsonSchema, byCursor: boolean): SchemaObject {
  const hits: JsonSchema = { type: "array", items: hit };
  if (!byCursor) {
    return objectSchema(
      {
        hits,
        page: { type: "integer", minimum: 1 },
        size: { type: "integer", minimum: 1 },
        count: { type: "integer", minimum: 0 },
      },
      ["hits", "page", "size", "count"],
    );
  }
  return objectSchema(
    {
      hits,
      next_cursor: { type: ["string", "null"] },
      prev_cursor: { type: ["string", "null"] },
      has_more: { type: "boolean" },
    },
    ["hits", "next_cursor", "prev_cursor", "has_more"],
  );
}
