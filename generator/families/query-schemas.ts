// JSON Schemas of list requests and pages: filters, sorts, cursors (decisions.md "Documents", "Query language").
import { baseFields, type Fields, type FieldType } from "../../runtime/contract/fields.js";
import { limits } from "../../runtime/contract/limits.js";
import { objectSchema, type JsonSchema, type SchemaObject } from "../model/json-schema.js";

/** What a list of one document can be asked. */
export interface QueryableDocument {
  readonly fields: Fields;
  readonly softDelete: boolean;
  readonly listDeleted: boolean;
}

/** The fields of a document with the base fields, as queries name them. */
export function queryableFields(document: QueryableDocument): Fields {
  return {
    ...baseFields,
    ...(document.softDelete ? { is_deleted: "boolean" as const } : {}),
    ...document.fields,
  };
}

/** The body of a list operation. */
export function listRequestSchema(
  document: QueryableDocument,
  options: { readonly isRaw: boolean; readonly byCursor: boolean },
): SchemaObject {
  const fields = queryableFields(document);
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
      filters: filterSchema(fields),
      sorts: sortSchema(fields),
      ...(options.isRaw
        ? {
            return_fields: {
              type: "array",
              minItems: 1,
              items: { type: "string", enum: Object.keys(fields).sort() },
            },
          }
        : {}),
      ...(document.listDeleted ? { with_deleted: { type: "boolean", default: false } } : {}),
    },
    options.isRaw ? ["return_fields"] : [],
  );
}

function filterSchema(fields: Fields): SchemaObject {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [name, constraintSchema(type)]),
  );
  return objectSchema({ $values: { type: "object", properties, additionalProperties: false } }, []);
}

function constraintSchema(type: FieldType): JsonSchema {
  const scalar = scalarSchema(type);
  if (scalar === undefined) return { type: "null" };
  return {
    anyOf: [
      scalar,
      { type: "array", items: scalar, maxItems: limits.maxInOperands },
      { type: "null" },
    ],
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
    case "boolean":
      return { type };
    default:
      return undefined;
  }
}

function sortSchema(fields: Fields): SchemaObject {
  const order: JsonSchema = {
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
  const properties = Object.fromEntries(
    Object.entries(fields)
      .filter(([, type]) => scalarSchema(type) !== undefined)
      .map(([name]) => [name, order]),
  );
  return {
    type: "object",
    properties,
    additionalProperties: false,
    maxProperties: limits.maxSorts,
  };
}

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
