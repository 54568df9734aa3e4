// A document whose type is a union: one object with the members of all branches, of which each
// document has those of its own, and null in place of the others.
import { isDeepStrictEqual } from "node:util";
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import {
  alternativesOf,
  nullable,
  objectSchema,
  propertiesOf,
  requiredOf,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";

/** A branch, and the values of the member that tells it from the others. */
interface Branch {
  readonly schema: SchemaObject;
  readonly values: readonly unknown[];
}

/** As many branches as a type's code and its validators have room for. */
const maxBranches = 32;

/** Keywords of a union, of a branch, and of the field that tells branches apart. */
const ofUnion = ["oneOf", "anyOf", "title", "description"];
const ofBranch =
  "type title description properties required additionalProperties allOf if then else".split(" ");
const ofTelling = ["const", "enum", "type", "title", "description"];

/** The object that a union is as the type of a document, or why it can't be one. */
export function documentOfUnion(union: SchemaObject, resolve: Resolve): SchemaObject | string {
  const isTwice = "oneOf" in union && "anyOf" in union;
  const beside = isTwice ? "anyOf" : strangeIn(union, ofUnion);
  if (beside !== undefined)
    return `beside the branches of a document's type, \`${beside}\` has no effect`;
  const schemas = alternativesOf(union).map((one) => resolveSchema(one, resolve));
  const objects = schemas.filter(isClosedObject);
  if (objects.length < schemas.length)
    return "each branch of a document's type must be an object with declared fields alone, and no union";
  if (objects.length > maxBranches)
    return `a document's type has at most ${maxBranches} branches, and this one ${objects.length}`;
  const strange = objects.flatMap((one) => strangeIn(one, ofBranch) ?? [])[0];
  if (strange !== undefined)
    return `a branch of a document's type can't have \`${strange}\`, as other branches have further fields`;
  const told = Object.keys(propertiesOf(objects[0] ?? {})).find((name) =>
    tellsApart(name, objects),
  );
  if (told === undefined)
    return "the branches of a document's type need a field that tells them apart, such as `kind: {const: card}`";
  for (const one of objects) {
    const telling = strangeIn(propertiesOf(one)[told], ofTelling);
    if (telling !== undefined)
      return `${told} tells the branches apart, so nothing but its values can be said of it`;
  }
  const branches = objects.map((schema) => ({ schema, values: valuesOf(schema, told) }));
  const torn = namesOf(branches).find((name) => name !== told && isTorn(name, branches));
  if (torn !== undefined)
    return `the branches must say the same of ${torn}, since it refers to others or has been renamed`;
  return joinBranches(told, branches);
}

/** The fields of such a type that not all branches have: where they are not, they are null. */
export function fieldsOfSome(body: JsonSchema): readonly string[] {
  if (typeof body === "boolean") return [];
  const branches = (body["allOf"] ?? []) as readonly SchemaObject[];
  const nulls = branches.flatMap(({ then }) =>
    Object.entries(propertiesOf((then ?? {}) as SchemaObject)).filter(
      ([, schema]) => typeof schema === "object" && schema["type"] === "null",
    ),
  );
  return [...new Set(nulls.map(([name]) => name))];
}

function strangeIn(schema: JsonSchema | undefined, known: readonly string[]): string | undefined {
  return typeof schema === "object"
    ? Object.keys(schema).find((keyword) => !known.includes(keyword))
    : undefined;
}

function namesOf(branches: readonly Branch[]): readonly string[] {
  return [...new Set(branches.flatMap(({ schema }) => Object.keys(propertiesOf(schema))))];
}

/** Whether branches word differently what no alternatives can say: references, and names. */
function isTorn(name: string, branches: readonly Branch[]): boolean {
  const [first, ...others] = different(name, branches);
  return others.length > 0 && /"x-/.test(JSON.stringify([first, ...others]));
}

function isClosedObject(schema: JsonSchema): schema is SchemaObject {
  return (
    typeof schema === "object" &&
    schema["type"] === "object" &&
    schema["additionalProperties"] === false
  );
}

/** Whether each branch requires other values of a member. */
function tellsApart(name: string, branches: readonly SchemaObject[]): boolean {
  const values = branches.flatMap((one) => valuesOf(one, name));
  return (
    branches.every((one) => requiredOf(one).includes(name) && valuesOf(one, name).length > 0) &&
    new Set(values).size === values.length
  );
}

/** The values that a branch names for a member; none if it names no texts, numbers or booleans. */
function valuesOf(branch: SchemaObject, name: string): readonly unknown[] {
  const schema = propertiesOf(branch)[name];
  if (typeof schema !== "object") return [];
  const values = "const" in schema ? [schema["const"]] : (schema["enum"] ?? []);
  const isPlain = (values as readonly unknown[]).every(
    (one) => one !== null && typeof one !== "object",
  );
  return isPlain ? (values as readonly unknown[]) : [];
}

function joinBranches(told: string, branches: readonly Branch[]): SchemaObject {
  const names = namesOf(branches);
  const [{ schema: some } = { schema: {} }] = branches;
  const shared = names.filter(
    (name) => name !== told && branches.every(({ schema }) => isSame(name, schema, branches)),
  );
  const own = names.filter((name) => name !== told && !shared.includes(name));
  const properties = names.map((name): readonly [string, JsonSchema] => {
    if (name === told) return [name, { enum: branches.flatMap(({ values }) => values) }];
    if (shared.includes(name)) return [name, propertiesOf(some)[name] ?? true];
    return [name, nullable(joinedOf(different(name, branches)))];
  });
  const required = [told, ...shared.filter((name) => requiredOf(some).includes(name))];
  return {
    ...objectSchema(Object.fromEntries(properties), required),
    allOf: branches.map((branch) => conditionOf(told, own, branch)),
  };
}

/** Whether all branches say the same of a member, and either all or none of them require it. */
function isSame(name: string, branch: SchemaObject, branches: readonly Branch[]): boolean {
  return branches.every(
    ({ schema }) =>
      isDeepStrictEqual(propertiesOf(schema)[name], propertiesOf(branch)[name]) &&
      requiredOf(schema).includes(name) === requiredOf(branch).includes(name),
  );
}

/** Keywords that narrow a type: what they say, each branch says in its condition. */
const narrowing =
  "title description enum minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum".split(
    " ",
  );

/** One schema for what branches say: their common type with all values, or each of them. */
function joinedOf(said: readonly JsonSchema[]): JsonSchema {
  const [first = true, ...others] = said;
  if (others.length === 0) return first;
  const [wide, ...further] = said.map((one) =>
    typeof one === "boolean"
      ? one
      : Object.fromEntries(Object.entries(one).filter(([key]) => !narrowing.includes(key))),
  );
  if (typeof wide !== "object" || further.some((one) => !isDeepStrictEqual(one, wide)))
    return { anyOf: said };
  const values = said.map((one) => (typeof one === "boolean" ? undefined : one["enum"]));
  const areListed = values.every((one) => Array.isArray(one));
  return areListed ? { ...wide, enum: [...new Set(values.flat())] } : wide;
}

/** What the branches that have a member say of it, besides null. */
function different(name: string, branches: readonly Branch[]): readonly JsonSchema[] {
  const said = branches.flatMap(({ schema }) => {
    const one = propertiesOf(schema)[name];
    return one === undefined ? [] : [withoutNull(one)];
  });
  return said.filter((one, at) => said.findIndex((other) => isDeepStrictEqual(one, other)) === at);
}

/** A document of a branch is as that says, and has none of the others' members. */
function conditionOf(
  told: string,
  own: readonly string[],
  { schema, values }: Branch,
): SchemaObject {
  const { type: _type, title: _title, description: _description, ...rest } = schema;
  const { properties: _properties, required: _required, ...others } = rest;
  const { additionalProperties: _closed, ...further } = others;
  const said = own.map((name): readonly [string, JsonSchema] => {
    const one = propertiesOf(schema)[name];
    if (one === undefined) return [name, { type: "null" }];
    return [name, requiredOf(schema).includes(name) ? one : nullable(one)];
  });
  return {
    if: { properties: { [told]: { enum: values } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { ...further, properties: Object.fromEntries(said) },
  };
}
