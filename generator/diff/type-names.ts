// Types of what operations take and answer: a client's package has them by their names.
import { hasInput } from "../print/client-operation.js";
import { referredType, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { inputTypeOf, outputTypeName } from "../model/operation-types.js";

/**
 * Tells where a type that an operation has of its own takes the place of one of the registry's that
 * is gone, or one of those that of its own, however alike they are. That the registry calls one
 * otherwise is told of the type.
 */
export function compareTypeNames(
  before: OperationModel,
  after: OperationModel,
  types: RegistryModel["types"],
  tell: (what: string) => void,
): void {
  const compare = (verb: string, was: Named | null, is: Named | null): void => {
    if (was === null || is === null || was.isOwn === is.isOwn) return;
    const isGone = was.isOwn || own(types, was.name) === undefined;
    if (isGone) tell(`${verb} ${is.name} instead of ${was.name}`);
  };
  compare("takes", inputOf(before), inputOf(after));
  compare("answers with", outputOf(before), outputOf(after));
}

interface Named {
  readonly name: string;
  /** Whether it is the operation's own, and none of the registry. */
  readonly isOwn: boolean;
}

function inputOf(operation: OperationModel): Named | null {
  if (!hasInput(operation)) return null;
  return { name: inputTypeOf(operation), isOwn: isOwn(operation.input.schema) };
}

function outputOf(operation: OperationModel): Named | null {
  const { schema } = operation.output;
  return schema === null ? null : { name: outputTypeName(operation), isOwn: isOwn(schema) };
}

function isOwn(schema: JsonSchema): boolean {
  return referredType(schema) === undefined;
}
