// Where a file of the client finds the types of an operation.
import type { OperationModel } from "../../model/registry.js";
import { hasInput, inputTypeOf, resultTypeOf } from "./operation.js";

/** The module of a type, from a file whose client is at `root`: that of the operation's namespace where no other has it. */
export function moduleOfType(
  type: string,
  namespace: string,
  modules: ReadonlyMap<string, string>,
  root: "." | "..",
): string {
  const module = modules.get(type) ?? namespace;
  return module === "models" ? `${root}/models.js` : `${root}/api/${module}.js`;
}

/** Without what is of the language or of the client's core. */
export function withoutBuiltIn(types: readonly string[]): readonly string[] {
  return types.filter((type) => type !== "undefined" && type !== "$.Bytes");
}

/** The named types of what an operation takes and answers. */
export function namedTypesOf(operation: OperationModel): readonly string[] {
  return withoutBuiltIn([
    ...(hasInput(operation) ? [inputTypeOf(operation)] : []),
    resultTypeOf(operation),
  ]);
}
