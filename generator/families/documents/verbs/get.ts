// documents.get: reads one document, or a view of it.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { refTo } from "../../../model/json-schema.js";
import type { ParameterModel } from "../../../model/registry.js";
import { expandMember } from "../queries/query-schemas.js";
import { always, parametersInput, verb } from "./verb.js";

export const get = verb({
  name: "get",
  summary: ({ a }) => `Read ${a}`,
  rest: ["GET", "/{id}"],
  rpc: ["GET", "/get"],
  about: "one",
  does: [],
  when: always,
  input: ({ model, typeName }) => parametersInput(typeName, [idInPath, ...expandParameters(model)]),
  output: ({ model }) =>
    jsonOutput(refTo(model.readTypeName), { hasEntityTag: model.view === null }),
  run: ({ spec }) => callOf(ofRuntime("documents.get"), spec),
  errors: () => ["core.not_found"],
  isConditional: true,
  ofViews: true,
});

/** Documents that may come along with the one that is read. */
function expandParameters(model: DocumentModel): readonly ParameterModel[] {
  return Object.entries(expandMember(model)).map(([name, schema]) => ({
    name,
    in: "query",
    type: "list",
    required: false,
    schema,
  }));
}
