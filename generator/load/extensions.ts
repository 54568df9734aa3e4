// `extends:` among the fields of a type: it has those of another one as well.
import { inside, type Finding, type Origin } from "../diagnostics/diagnostics.js";
import {
  objectSchema,
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";

export const extendsKeyword = "extends";

/** The type that a map of fields extends; undefined if it extends none. */
export function extendedType(
  fields: Readonly<Record<string, unknown>>,
  types: ReadonlySet<string>,
): string | undefined {
  const name = fields[extendsKeyword];
  return typeof name === "string" && types.has(name) ? name : undefined;
}

/** Why a type can't extend another one (OPW116); undefined if it can. */
export function extensionFault(
  base: { readonly name: string; readonly schema: JsonSchema | undefined },
  own: SchemaObject,
  at: Origin,
): Finding | undefined {
  const { name, schema } = base;
  const path = inside(at, extendsKeyword);
  if (schema === undefined) return { code: "OPW116", message: `${name} extends itself`, at: path };
  if (typeof schema === "boolean" || schema["type"] !== "object")
    return { code: "OPW116", message: `${name} is no type of fields`, at: path };
  const known = propertiesOf(schema);
  const [twice] = Object.keys(propertiesOf(own)).filter((field) => Object.hasOwn(known, field));
  if (twice === undefined) return undefined;
  const message = `${twice} is a field of ${name} already`;
  return { code: "OPW116", message, at: { ...inside(at, twice), isKey: true } };
}

/** The fields and conditions of a type with those of the type that it extends, which come first. */
export function extendSchema(base: SchemaObject, own: SchemaObject): SchemaObject {
  const { title: _title, description: _description, ...inherited } = base;
  const conditions = [...conditionsOf(base), ...conditionsOf(own)];
  const [first, ...others] = conditions;
  return {
    ...withoutConditions(inherited),
    ...withoutConditions(own),
    ...objectSchema({ ...propertiesOf(base), ...propertiesOf(own) }, [
      ...requiredOf(base),
      ...requiredOf(own),
    ]),
    ...("additionalProperties" in base
      ? { additionalProperties: base["additionalProperties"] }
      : {}),
    ...(others.length > 0 ? { allOf: conditions } : first),
  };
}

const words = ["if", "then", "else"];

/** Conditions that stand in a schema itself, as a list. */
function conditionsOf(schema: SchemaObject): readonly SchemaObject[] {
  const own = Object.entries(schema).filter(([name]) => words.includes(name));
  const all = (schema["allOf"] ?? []) as readonly SchemaObject[];
  return [...(own.length === 0 ? [] : [Object.fromEntries(own)]), ...all];
}

function withoutConditions(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(
    Object.entries(schema).filter(([name]) => name !== "allOf" && !words.includes(name)),
  );
}
