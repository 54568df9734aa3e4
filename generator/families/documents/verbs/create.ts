// documents.create: adds one document.
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { bodyInput } from "../../../model/registry.js";
import { always, verb } from "./verb.js";

export const create = verb({
  name: "create",
  summary: ({ a }) => `Create ${a}`,
  rest: ["POST", "/"],
  rpc: ["POST", "/create"],
  status: 201,
  about: "one",
  does: ["creates"],
  when: always,
  input: ({ model }) => bodyInput(refTo(model.createTypeName), model.createTypeName, "parts"),
  output: ({ model }) => jsonOutput(refTo(model.typeName), { hasEntityTag: true }),
  run: ({ spec }) => callOf(ofRuntime("documents.create"), spec),
  errors: () => [],
  leadsTo: ["get", "update", "delete", "kill"],
});
