// documents.revert: gives one document the values of an earlier revision.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo, revisionSchema } from "../../../model/json-schema.js";
import { get } from "./get.js";
import { revision } from "./revisions.js";
import { update } from "./update.js";
import { parametersInput, revisionErrors, revisionParameter, verb, withRevisions } from "./verb.js";

export const revert = verb({
  name: "revert",
  summary: ({ a }) => `Restore an earlier revision of ${a}`,
  rest: ["POST", "/{id}/revert"],
  rpc: ["PATCH", "/revert"],
  about: "one",
  // It answers with the content of a revision.
  twinOf: () => [get, revision, update],
  when: withRevisions,
  input: ({ typeName }) =>
    parametersInput(typeName, [
      idInPath,
      revisionParameter(true),
      { name: "to", in: "query", type: "integer", required: true, schema: revisionSchema },
    ]),
  output: ({ model }) => jsonOutput(refTo(model.typeName), { hasEntityTag: true }),
  run: ({ spec, twins }) => callOf(ofRuntime("history.revert"), spec, ...twins),
  errors: ({ model: { softDelete } }) => [
    ...revisionErrors,
    "revision_required",
    ...(softDelete ? ["document_deleted"] : []),
  ],
  isConditional: true,
});
