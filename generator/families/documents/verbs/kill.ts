// documents.kill: removes one document for good.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { always, parametersInput, revisionErrors, revisionParameter, verb } from "./verb.js";

export const kill = verb({
  name: "kill",
  summary: ({ a }) => `Remove ${a} for good`,
  rest: ["DELETE", "/{id}"],
  rpc: ["DELETE", "/kill"],
  status: 204,
  about: "one",
  does: ["removes"],
  when: always,
  input: ({ typeName }) => parametersInput(typeName, [idInPath, revisionParameter(false)]),
  output: () => jsonOutput(null),
  run: ({ spec }) => callOf(ofRuntime("documents.kill"), spec),
  errors: () => revisionErrors,
  isConditional: true,
});
