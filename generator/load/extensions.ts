// `extends:` among the fields of a type: it has those of another one as well.
import { inside, type Finding, type Origin, type Report } from "../diagnostics/diagnostics.js";
import {
  objectSchema,
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { isMap } from "./shape.js";

export const extendsKeyword = "extends";

/**
 * The type that a map of fields extends; undefined if it extends none. Reports an `extends` that
 * looks as if it meant one, and would be a field (OPW116).
 */
export function readExtension(
  fields: Readonly<Record<string, unknown>>,
  types: ReadonlySet<string>,
  at: Origin,
  report: Report,
): string | undefined {
  const name = fields[extendsKeyword];
  if (typeof name === "string" && types.has(name)) return name;
  const mistaken = findMistaken(fields, types, at);
  if (mistaken !== undefined) report(mistaken);
  return undefined;
}

function findMistaken(
  fields: Readonly<Record<string, unknown>>,
  types: ReadonlySet<string>,
  at: Origin,
): Finding | undefined {
  const said = fields[extendsKeyword];
  const texts = [said, isMap(said) ? said["$ref"] : undefined].flat();
  const named = texts.flatMap((one) => {
    const name = typeof one === "string" ? one.replace(/^#\/types\/|[?[\]]+$/g, "") : "";
    return types.has(name) ? [name] : [];
  });
  const [name] = named;
  if (name === undefined || name === said) return undefined;
  const message = `\`extends\` names one type, by its name alone: \`extends: ${name}\``;
  return { code: "OPW116", message, at: inside(at, extendsKeyword) };
}

/** Keywords that a type may have whose fields another one takes over. */
const inheritable = new Set([
  ..."type properties required additionalProperties patternProperties minProperties".split(" "),
  ..."dependentRequired not if then else allOf".split(" "),
]);
/** Keywords that say nothing of values; they are those of the type itself. */
const annotations = new Set(
  "title description examples default deprecated $comment $schema $defs".split(" "),
);

/** Why a type can't extend another one (OPW116); undefined if it can. */
export function extensionFault(
  { name, schema }: { readonly name: string; readonly schema: JsonSchema | undefined },
  own: SchemaObject,
  at: Origin,
): Finding | undefined {
  const path = inside(at, extendsKeyword);
  if (schema === undefined) return { code: "OPW116", message: `${name} extends itself`, at: path };
  if (typeof schema === "boolean" || schema["type"] !== "object")
    return { code: "OPW116", message: `${name} is no type of fields`, at: path };
  const other = Object.keys(schema).find(
    (word) => !inheritable.has(word) && !annotations.has(word) && !word.startsWith("x-"),
  );
  if (other !== undefined) {
    const message = `${name} has \`${other}\`, which would leave no room for further fields`;
    return { code: "OPW116", message, at: path };
  }
  const known = propertiesOf(schema);
  const twice = Object.keys(propertiesOf(own)).find((field) => Object.hasOwn(known, field));
  if (twice === undefined) return undefined;
  const message = `${twice} is a field of ${name} already`;
  return { code: "OPW116", message, at: { ...inside(at, twice), isKey: true } };
}

/** The fields and conditions of a type with those of the type that it extends, which come first. */
export function extendSchema(base: SchemaObject, own: SchemaObject): SchemaObject {
  const inherited = Object.entries(base).filter(([word]) => inheritable.has(word));
  const properties = { ...propertiesOf(base), ...propertiesOf(own) };
  const whole = {
    ...withoutConditions(Object.fromEntries(inherited)),
    ...withoutConditions(own),
    ...objectSchema(properties, [...requiredOf(base), ...requiredOf(own)]),
  };
  const conditions = [...conditionsOf(base), ...conditionsOf(own)];
  return conditions.length === 0 ? whole : { ...whole, allOf: conditions };
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
