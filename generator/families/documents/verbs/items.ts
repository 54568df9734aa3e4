// documents.create_many, update_many and delete_many: each item of the request has an outcome of
// its own.
import { jsonOutput } from "../../../kernel/operation.js";
import type { VerbRoute } from "../../../kernel/verb.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import type { DocumentModel } from "../../../model/document-model.js";
import {
  objectSchema,
  refTo,
  revisionSchema,
  uuidSchema,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { bodyInput } from "../../../model/registry.js";
import { create } from "./create.js";
import { markDeleted } from "./delete.js";
import { kill } from "./kill.js";
import { update } from "./update.js";
import { type DocumentPlace, verb, type DocumentVerb, withBulk } from "./verb.js";

const rev = { ...revisionSchema, description: "The expected revision; any where left out." };

export const createMany = verb({
  name: "create_many",
  summary: ({ many }) => `Create many ${many}`,
  twinOf: () => [create],
  ...ofItems("create_many", "create", (model) => refTo(model.createTypeName)),
});

export const updateMany = verb({
  name: "update_many",
  summary: ({ many }) => `Change many ${many} by merge patches`,
  twinOf: () => [update],
  ...ofItems("update_many", "update", (model) =>
    objectSchema({ id: uuidSchema, rev, patch: refTo(model.patchTypeName) }, ["id", "patch"]),
  ),
});

export const deleteMany = verb({
  name: "delete_many",
  summary: ({ many }) => `Delete many ${many}`,
  twinOf: ({ softDelete }) => [softDelete ? markDeleted : kill],
  ...ofItems("delete_many", "delete", () => objectSchema({ id: uuidSchema, rev }, ["id"])),
});

/** The facts that verbs about items have in common; `handler` is their name in the runtime. */
function ofItems(
  name: string,
  handler: string,
  itemSchema: (model: DocumentModel) => JsonSchema,
): Omit<DocumentVerb, "name" | "summary" | "does" | "twinOf"> {
  const route: VerbRoute = ["POST", `/${name}`];
  return {
    rest: route,
    about: "items",
    when: withBulk,
    input: ({ model, typeName }: DocumentPlace) => {
      const read = callOf(ofRuntime(`bulkInput.${handler}`), { literal: model.bulk ?? 0 });
      return bodyInput(requestSchema(model, itemSchema(model)), typeName, read);
    },
    output: ({ model }) => jsonOutput(outcomesSchema(model.typeName)),
    run: ({ spec, twins }: DocumentPlace) => callOf(ofRuntime(`bulk.${handler}`), spec, ...twins),
    errors: () => ["bulk_refused", "query_too_complex"],
  };
}

function requestSchema({ bulk }: DocumentModel, items: JsonSchema): SchemaObject {
  const atomic = {
    type: "boolean",
    default: false,
    description: "true writes nothing where one of the items is refused.",
  };
  const list = { type: "array", minItems: 1, maxItems: bulk ?? 1, items };
  return objectSchema({ items: list, atomic }, ["items"]);
}

/** What became of each item, in their order. */
function outcomesSchema(typeName: string): SchemaObject {
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
  const members = { outcomes: { type: "array", items: outcome }, done: count, failed: count };
  return objectSchema(members, Object.keys(members));
}
