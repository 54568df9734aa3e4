// The type of a handler's input if members have defaults: the validator fills them in, so they are
// always present.
import { propertiesOf, referredType, requiredOf, type JsonSchema } from "./json-schema.js";
import { pascalCase } from "./names.js";
import type { OperationModel, RegistryModel } from "./registry.js";

type Types = RegistryModel["types"];

/**
 * Optional members with a default. None if the schema isn't a plain object, since only an interface
 * can be extended.
 */
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

/**
 * Whether the schema's type is composed of others or of values, so that no interface can extend it.
 */
function isComposed(schema: Exclude<JsonSchema, boolean>): boolean {
  return ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"].some((keyword) => keyword in schema);
}

/** The name of the type of an input whose defaults are filled in, from the operation's key. */
export function filledTypeName(key: string): string {
  return `${pascalCase(key)}FilledInput`;
}

/** The name of the input type of an author's handler. */
export function handledTypeName({ key, input }: OperationModel, types: Types): string {
  const filled = filledMembers(input.schema, (name) => types[name]);
  return Object.keys(filled).length === 0 ? input.typeName : filledTypeName(key);
}
