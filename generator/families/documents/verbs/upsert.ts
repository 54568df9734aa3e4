// documents.upsert: updates the document that has the same unique values, or creates it.
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { numberFields } from "../members/numbers.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { objectSchema, refTo, type SchemaObject } from "../../../model/json-schema.js";
import { bodyInput } from "../../../model/registry.js";
import { create } from "./create.js";
import { update } from "./update.js";
import { revisionErrors, verb } from "./verb.js";

export const upsert = verb({
  name: "upsert",
  summary: ({ one }) => `Update the ${one} that has the same unique values, or create it`,
  rest: ["POST", "/upsert"],
  about: "one",
  twinOf: () => [create, update],
  when: { says: "upsert: true", holds: (_model, declaration) => declaration.upsert === true },
  input: ({ model, spec, typeName }) =>
    bodyInput(requestSchema(model), typeName, callOf(ofRuntime("bulkInput.upsert"), spec)),
  output: ({ model }) => {
    const created = { type: "boolean", description: "Whether it was not there before." };
    const answer = objectSchema({ data: refTo(model.typeName), created }, ["data", "created"]);
    return jsonOutput(answer, { hasEntityTag: true });
  },
  run: ({ spec, twins }) => callOf(ofRuntime("bulk.upsert"), spec, ...twins),
  errors: () => revisionErrors,
});

/** The unique fields by which the document is found, and the document. */
function requestSchema(model: DocumentModel): SchemaObject {
  const { createTypeName } = model;
  const rules = knownUniques(model).map(({ fields }) => ({
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

/**
 * The rules by which a document can be found: those about all documents, and without running
 * numbers, which nobody knows before they are given.
 */
export function knownUniques({ unique, set }: DocumentModel): DocumentModel["unique"] {
  const numbers = numberFields(set);
  return unique.filter(
    ({ fields, where }) => where === undefined && !fields.some((field) => numbers.includes(field)),
  );
}
