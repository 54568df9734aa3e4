// The TypeScript names of what an operation takes and gives.
import { referredType } from "./json-schema.js";
import { pascalCase } from "./names.js";
import type { OperationModel } from "./registry.js";

/** The name of an operation's input. */
export function inputTypeOf({ input }: OperationModel): string {
  return referredType(input.schema) ?? input.typeName;
}

/** The name of an operation's result. */
export function outputTypeName({ key, output }: OperationModel): string {
  const schema = output.schema;
  return (schema === null ? undefined : referredType(schema)) ?? `${pascalCase(key)}Output`;
}
