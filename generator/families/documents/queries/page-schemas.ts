// JSON Schemas of pages, as lists answer them.
import { objectSchema, type JsonSchema, type SchemaObject } from "../../../model/json-schema.js";

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

/** A document of which a list answers chosen fields. */
export const chosenFields: SchemaObject = {
  type: "object",
  description: "The fields that were asked for.",
  additionalProperties: true,
};

/** Pages of such documents, which all documents share. */
export const rawPages = {
  byNumber: { name: "RawPage", schema: pageSchema(chosenFields, false) },
  byCursor: { name: "RawCursorPage", schema: pageSchema(chosenFields, true) },
};
