// Where a file of the client finds the types of an operation.
import type { OperationModel } from "../../model/registry.js";
import { hasInput, inputTypeOf, resultTypeOf } from "./operation.js";

/** The import path of a type, from a file with the client at `root`. A type without a module is declared by `namespace`. */
export function moduleOfType(
  type: string,
  namespace: string,
  modules: ReadonlyMap<string, string>,
  root: "." | "..",
): string {
  const module = modules.get(type) ?? namespace;
  return module === "models" ? `${root}/models.js` : `${root}/api/${module}.js`;
}

/** The types that must be imported: those neither of the language nor of the client's core. */
export function withoutBuiltIn(types: readonly string[]): readonly string[] {
  return types.filter((type) => type !== "undefined" && type !== "$.Bytes");
}

/** The named types of an operation's input and result. */
export function namedTypesOf(operation: OperationModel): readonly string[] {
  return withoutBuiltIn([
    ...(hasInput(operation) ? [inputTypeOf(operation)] : []),
    resultTypeOf(operation),
  ]);
}
