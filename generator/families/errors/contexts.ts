// The checks of errors' contexts, and their names in generated code.
import { refTo } from "../../model/json-schema.js";
import { camelCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ToldPlans } from "../../model/validator-plan.js";

/** The module of these checks. No namespace can have this name, because of the hyphen. */
export const errorContextsModule = "error-contexts";

/**
 * The name of the check of an error's context. The suffix also keeps it from being a reserved word.
 */
export function contextName(code: string): string {
  return camelCase(`${code}_context`);
}

/** A check for the context of each error that has one. */
export function toldContexts({ errors }: RegistryModel): Readonly<Record<string, ToldPlans>> {
  const plans = Object.entries(errors).flatMap(([code, { contextType }]) =>
    contextType === null
      ? []
      : [{ name: contextName(code), schema: refTo(contextType), typeName: contextType }],
  );
  return { [errorContextsModule]: { holds: "errorContext", plans } };
}
