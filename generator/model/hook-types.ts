// The types of the hooks that an operation names itself: what each phase gets, as it was sent.
import { handledTypeName } from "./filled-input.js";
import { propertiesOf, referredType, type JsonSchema } from "./json-schema.js";
import { pascalCase } from "./names.js";
import { inputTypeOf, outputTypeName } from "./operation-types.js";
import type { OperationModel, RegistryModel } from "./registry.js";

/** Whether an operation names hooks of the author's. */
export function hasOwnHooks({ hooks }: OperationModel): boolean {
  return hooks.some(({ isOwn }) => isOwn === true);
}

/** The name of the type of an operation's hooks. */
export function hookTypeName(key: string): string {
  return `${pascalCase(key)}Hook`;
}

/**
 * The binding of the runtime that says what the input is, such as `storageInput.key`; null where
 * the registry says it.
 */
export function bindingOf({ input: { read } }: OperationModel): string | null {
  return typeof read === "object" && "from" in read && read.from === "runtime" ? read.name : null;
}

/** The types of what an operation's hooks get: the input, and the answer. */
export function hookedTypes(
  operation: OperationModel,
  types: RegistryModel["types"],
): { readonly input: string; readonly output: string } {
  const isCustom = operation.declares === "handler";
  const { schema, isBytes, isStream } = operation.output;
  const binding = bindingOf(operation);
  const named = isCustom ? handledTypeName(operation, types) : inputTypeOf(operation);
  const nothing = isCustom ? "void" : "undefined";
  const bytes = isCustom ? "unknown" : "ByteReply";
  return {
    input: binding === null ? named : `BoundInput<typeof ${binding}>`,
    output:
      schema === null || isStream === true
        ? isBytes || isStream === true
          ? bytes
          : nothing
        : outputTypeName(operation),
  };
}

/** The types that an operation's own hooks need and nothing else declares. */
export function typesOfHooks(
  operation: OperationModel,
): readonly { readonly name: string; readonly schema: JsonSchema }[] {
  if (!hasOwnHooks(operation) || operation.declares === "handler") return [];
  const { declares, input, output } = operation;
  const isInputKnown = declares === "input" || bindingOf(operation) !== null;
  const all = [
    ...(isInputKnown ? [] : [{ name: input.typeName, schema: hookedInput(operation) }]),
    ...(output.schema === null ? [] : [{ name: outputTypeName(operation), schema: output.schema }]),
  ];
  return all.filter(({ schema }) => referredType(schema) === undefined);
}

/** The input of an operation as its hooks get it: a revision may be that of `If-Match: *`. */
function hookedInput({ input: { schema, parameters } }: OperationModel): JsonSchema {
  const revisions = parameters.filter((one) => one.in === "revision").map(({ name }) => name);
  if (revisions.length === 0 || typeof schema === "boolean") return schema;
  const members = Object.entries(propertiesOf(schema)).map(([name, member]) => [
    name,
    revisions.includes(name) ? { anyOf: [member, { const: "any" }] } : member,
  ]);
  return { ...schema, properties: Object.fromEntries(members) };
}
