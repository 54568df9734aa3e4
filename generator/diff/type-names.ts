// Types of what operations take and answer: a client's package has them by their names.
import { referredType, type JsonSchema } from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import { own } from "../model/records.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";

/**
 * Tells where a type that an operation has of its own takes the place of one of the registry's that is gone, or one of those
 * that of its own, however alike they are. That the registry calls one otherwise is told of the type.
 */
export function compareTypeNames(
  before: OperationModel,
  after: OperationModel,
  types: RegistryModel["types"],
  tell: (what: string) => void,
): void {
  const compare = (verb: string, was: Named, is: Named): void => {
    const isGone = was.isOwn || own(types, was.name) === undefined;
    if (was.isOwn !== is.isOwn && isGone) tell(`${verb} ${is.name} instead of ${was.name}`);
  };
  if (takesInput(before) && takesInput(after)) compare("takes", inputOf(before), inputOf(after));
  const [old, next] = [outputOf(before), outputOf(after)];
  if (old !== null && next !== null) compare("answers with", old, next);
}

interface Named {
  readonly name: string;
  /** Whether it is the operation's own, and none of the registry. */
  readonly isOwn: boolean;
}

function named(schema: JsonSchema, ownName: string): Named {
  const referred = referredType(schema);
  return { name: referred ?? ownName, isOwn: referred === undefined };
}

function inputOf({ input }: OperationModel): Named {
  return named(input.schema, input.typeName);
}

function outputOf({ key, output }: OperationModel): Named | null {
  return output.schema === null ? null : named(output.schema, `${pascalCase(key)}Output`);
}

function takesInput({ input }: OperationModel): boolean {
  return input.parameters.length > 0 || input.body !== null;
}
