// documents.update: changes one document by a merge patch (RFC 7396).
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { objectSchema, refTo, revisionSchema, uuidSchema } from "../../../model/json-schema.js";
import { usualBody, type InputModel } from "../../../model/registry.js";
import { always, revisionErrors, revisionParameter, verb, type DocumentPlace } from "./verb.js";

export const update = verb({
  name: "update",
  summary: ({ a }) => `Change ${a} by a merge patch`,
  rest: ["PATCH", "/{id}"],
  rpc: ["PATCH", "/update"],
  about: "one",
  does: ["updates"],
  when: always,
  input: patchInput,
  output: ({ model }) => {
    const diff = {
      type: "object",
      description: "The new values of what changed.",
      additionalProperties: true,
    };
    const answer = objectSchema({ data: refTo(model.typeName), diff }, ["data", "diff"]);
    return jsonOutput(answer, { hasEntityTag: true });
  },
  run: ({ spec }) => callOf(ofRuntime("documents.update"), spec),
  errors: ({ model }) => [...revisionErrors, "revision_required", ...historyErrors(model)],
  isConditional: true,
});

function patchInput({ model, typeName }: DocumentPlace): InputModel {
  const patch = refTo(model.patchTypeName);
  const members = { id: uuidSchema, rev: revisionSchema, patch };
  return {
    schema: objectSchema(members, Object.keys(members)),
    typeName,
    parameters: [idInPath, revisionParameter(true)],
    body: {
      as: { member: "patch" },
      ...usualBody,
      schema: patch,
      typeName: model.patchTypeName,
    },
    read: "parts",
  };
}

/**
 * A patch of an older revision is merged with what happened since, which history must still know.
 */
function historyErrors({ history, softDelete }: DocumentModel): readonly string[] {
  return [
    ...(history === 0 ? [] : ["historical_consistency_violation", "history_not_found_retry"]),
    ...(softDelete ? ["document_deleted"] : []),
  ];
}
