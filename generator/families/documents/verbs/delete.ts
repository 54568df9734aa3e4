// documents.delete: marks one document as deleted, so that it can be restored.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import {
  parametersInput,
  revisionErrors,
  revisionParameter,
  verb,
  withSoftDelete,
} from "./verb.js";

export const markDeleted = verb({
  name: "delete",
  summary: ({ a }) => `Delete ${a}, so that it can be restored`,
  rest: ["POST", "/{id}/delete"],
  rpc: ["PATCH", "/delete"],
  about: "one",
  does: ["deletes"],
  when: withSoftDelete,
  input: ({ typeName }) => parametersInput(typeName, [idInPath, revisionParameter(true)]),
  output: ({ model }) => jsonOutput(refTo(model.typeName), { hasEntityTag: true }),
  run: ({ spec }) => callOf(ofRuntime("documents.delete"), spec),
  errors: () => [...revisionErrors, "revision_required", "document_deleted"],
  isConditional: true,
});
