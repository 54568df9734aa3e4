// What an operation takes and gives, as a caller in TypeScript sees it.
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

/** Whether an answer is values that the client reads one by one. */
export function isOfItems({ isStream, mediaType }: OperationModel["output"]): boolean {
  return isStream === true && mediaType === null;
}
