// Codes of errors as types: codes that many operations share have a type of their own.
import type { JsonSchema } from "../../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../../model/registry.js";
import { errorCodesOf, ofBody } from "../../model/error-codes.js";
import { isAttached } from "../../print/client-operation.js";
import { codeType } from "../../print/client-types.js";

export interface DeclaredType {
  readonly type: string;
  readonly schema: JsonSchema;
}

/**
 * The types of codes that many operations share: those of all, and those of all with a JSON body.
 */
export function commonCodes(model: RegistryModel): readonly DeclaredType[] {
  const operations = Object.values(model.operations).filter(isAttached);
  const ofAll = sharedBy(operations);
  const ofNamespaces = new Set(operations.map(({ namespace }) => codeType(namespace, model)));
  const named = (of: string): string => {
    const type = codeType(of, model);
    return ofNamespaces.has(type) ? `${type}_` : type;
  };
  return [
    { type: named("common"), schema: { enum: ofAll } },
    { type: named("body"), schema: { enum: ofBody.filter((code) => !ofAll.includes(code)) } },
  ];
}

/**
 * The type of codes that all operations of a namespace share besides the common ones; none if there
 * are no such codes.
 */
export function namespaceCodes(
  name: string,
  operations: readonly OperationModel[],
  common: readonly DeclaredType[],
  model: RegistryModel,
): readonly DeclaredType[] {
  const known = common.flatMap(codesOf);
  const codes = sharedBy(operations).filter((code) => !known.includes(code));
  return codes.length === 0 ? [] : [{ type: codeType(name, model), schema: { enum: codes } }];
}

function sharedBy(operations: readonly OperationModel[]): readonly string[] {
  const [first, ...others] = operations;
  if (first === undefined) return [];
  let shared: readonly string[] = errorCodesOf(first);
  for (const operation of others) {
    const codes: ReadonlySet<string> = new Set(errorCodesOf(operation));
    shared = shared.filter((code) => codes.has(code));
  }
  return shared;
}

/** The codes in a declared type of codes. */
export function codesOf({ schema }: DeclaredType): readonly unknown[] {
  return typeof schema === "object" && Array.isArray(schema["enum"]) ? schema["enum"] : [];
}
