// Lists of error codes that several operations of a module have: each is printed once.
import type { OperationModel } from "../model/registry.js";
import { ownCodesOf } from "../model/error-codes.js";
import { camelCase } from "../model/names.js";
import { listLayout, literal } from "../print/layout.js";
import { freeName } from "../print/printed-names.js";

/** Shorter lists are read more easily where they are used. */
const fewCodes = 3;

/** The lists by what is in them: their names, and the first operation that has each. */
type SharedErrors = ReadonlyMap<string, string>;

/** Finds the lists that more than one operation has, and names each after its first operation. */
export function findSharedErrors(
  operations: readonly OperationModel[],
  isTaken: (name: string) => boolean,
): SharedErrors {
  const names = new Map<string, string>();
  const shared = new Map<string, string>();
  for (const operation of operations) {
    const codes = ownCodesOf(operation);
    const list = JSON.stringify(codes);
    const name = names.get(list);
    if (codes.length <= fewCodes) continue;
    if (name === undefined) names.set(list, freeName(`${camelCase(operation.key)}Errors`, isTaken));
    else shared.set(list, name);
  }
  return shared;
}

/** The declarations of these lists. */
export function sharedErrorLines(shared: SharedErrors): readonly string[] {
  return [...shared].map(([list, name]) => {
    const codes = (JSON.parse(list) as readonly string[]).map(literal);
    return listLayout("", `const ${name} = `, codes, ["[", "]"], ";");
  });
}

/** The member with the codes that code of the operation may throw: a list, or the name of one. */
export function errorsMember(operation: OperationModel, shared: SharedErrors): string {
  const codes = ownCodesOf(operation);
  const name = shared.get(JSON.stringify(codes));
  if (name !== undefined) return `errors: ${name},`;
  return listLayout("  ", "errors: ", codes.map(literal), ["[", "]"], ",").trimStart();
}
