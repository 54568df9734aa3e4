// What a handler gets of an input whose members have defaults: the validator fills them in, so they are always there.
import { propertiesOf, referredType, requiredOf, type JsonSchema } from "./json-schema.js";
import { pascalCase } from "./names.js";
import type { OperationModel, RegistryModel } from "./registry.js";

type Types = RegistryModel["types"];

/** Members of an object that may be left out and have a default, where TypeScript can say so. */
export function filledMembers(
  schema: JsonSchema,
  typeOf: (name: string) => JsonSchema | undefined,
): Readonly<Record<string, JsonSchema>> {
  const type = referredType(schema);
  const body = type === undefined ? schema : (typeOf(type) ?? true);
  if (typeof body === "boolean" || body["type"] !== "object" || isComposed(body)) return {};
  const required = requiredOf(body);
  return Object.fromEntries(
    Object.entries(propertiesOf(body)).filter(
      ([name, member]) =>
        !required.includes(name) && typeof member === "object" && "default" in member,
    ),
  );
}

/** Whether its type is made of others, of which an interface cannot be made. */
function isComposed(schema: Exclude<JsonSchema, boolean>): boolean {
  return ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"].some((keyword) => keyword in schema);
}

/** The type of an input with its defaults, given the operation's key. */
export function filledTypeName(key: string): string {
  return `${pascalCase(key)}FilledInput`;
}

/** The type that the handler of an author's operation gets. */
export function handledTypeName({ key, input }: OperationModel, types: Types): string {
  const filled = filledMembers(input.schema, (name) => types[name]);
  return Object.keys(filled).length === 0 ? input.typeName : filledTypeName(key);
}
