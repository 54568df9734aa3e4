// JSON Schemas of requests that write many documents, and of their answers.
import {
  objectSchema,
  refTo,
  revisionSchema,
  uuidSchema,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { DocumentVerb } from "../../model/registry.js";
import { queryTypeNames } from "./query-types.js";

/** The body of a verb that writes many, or the one that has the same as a payload. */
export function bulkRequestSchema(model: DocumentModel, verb: DocumentVerb): SchemaObject {
  const { name, bulk, createTypeName, patchTypeName, unique } = model;
  const filters = refTo(queryTypeNames(name).filter);
  const patch = refTo(patchTypeName);
  const rev = { ...revisionSchema, description: "The expected revision; any where left out." };
  const dry: JsonSchema = {
    type: "boolean",
    default: false,
    description: "true only counts what the filter finds.",
  };
  const many = (items: JsonSchema): SchemaObject =>
    objectSchema(
      {
        items: { type: "array", minItems: 1, maxItems: bulk ?? 1, items },
        atomic: {
          type: "boolean",
          default: false,
          description: "true writes nothing where one of the items is refused.",
        },
      },
      ["items"],
    );
  switch (verb) {
    case "create_many":
      return many(refTo(createTypeName));
    case "update_many":
      return many(objectSchema({ id: uuidSchema, rev, patch }, ["id", "patch"]));
    case "delete_many":
      return many(objectSchema({ id: uuidSchema, rev }, ["id"]));
    case "update_where":
      return objectSchema({ filters, patch, dry_run: dry }, ["filters", "patch"]);
    case "delete_where":
      return objectSchema({ filters, dry_run: dry }, ["filters"]);
    default: {
      const rules = unique.map(({ fields }) => ({
        type: "array",
        minItems: fields.length,
        maxItems: fields.length,
        items: { type: "string", enum: fields },
      }));
      const [only] = rules;
      const by = rules.length === 1 && only !== undefined ? only : { anyOf: rules };
      const described = { ...by, description: "Fields that are unique together." };
      return objectSchema({ by: described, document: refTo(createTypeName) }, ["by", "document"]);
    }
  }
}

/** What became of each item, in their order. */
export function outcomesSchema(typeName: string): SchemaObject {
  const text = { type: "string" };
  const error = objectSchema(
    { detail: text, code: text, kind: text, context: { type: "object" } },
    ["detail", "code", "kind", "context"],
  );
  const count = { type: "integer", minimum: 0 };
  const outcome = {
    anyOf: [
      objectSchema({ document: refTo(typeName) }, ["document"]),
      objectSchema({ error }, ["error"]),
    ],
  };
  return objectSchema({ outcomes: { type: "array", items: outcome }, done: count, failed: count }, [
    "outcomes",
    "done",
    "failed",
  ]);
}

/** How many a filter found, and how many of these were written. */
export const matchedSchema: SchemaObject = objectSchema(
  { matched: { type: "integer", minimum: 0 }, done: { type: "integer", minimum: 0 } },
  ["matched", "done"],
);
