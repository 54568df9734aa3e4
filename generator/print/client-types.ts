// The types of operations in files of the client: what they are called, and which module has them.
import { pascalCase } from "../model/names.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { hasInput, resultTypeOf } from "./client-operation.js";
import { inputTypeOf, isOfItems, outputTypeName } from "../model/operation-types.js";

/**
 * The import path of a type, from a file with the client at `root`. A type without a module is
 * declared by `namespace`.
 */
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
    isOfItems(operation.output) ? outputTypeName(operation) : resultTypeOf(operation),
  ]);
}

/**
 * The name of the type for the codes of an operation or a namespace; no type of the registry has
 * it.
 */
export function codeType(of: string, { types }: Pick<RegistryModel, "types">): string {
  const wanted = `${pascalCase(of)}Code`;
  return Object.hasOwn(types, wanted) ? `${wanted}_` : wanted;
}
