// documents.restore: brings back one document that is marked as deleted.
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

export const restore = verb({
  name: "restore",
  summary: ({ one }) => `Restore a deleted ${one}`,
  rest: ["POST", "/{id}/restore"],
  rpc: ["PATCH", "/restore"],
  about: "one",
  does: ["restores"],
  when: withSoftDelete,
  input: ({ typeName }) => parametersInput(typeName, [idInPath, revisionParameter(true)]),
  output: ({ model }) => jsonOutput(refTo(model.typeName), { hasEntityTag: true }),
  run: ({ spec }) => callOf(ofRuntime("documents.restore"), spec),
  errors: () => [...revisionErrors, "revision_required"],
  isConditional: true,
});
