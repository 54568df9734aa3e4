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
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";

/** A branch, and the values of the member that tells it from the others. */
interface Branch {
  readonly schema: SchemaObject;
  readonly values: readonly unknown[];
}

/** The object that a union is as the type of a document, or why it can't be one. */
export function documentOfUnion(union: SchemaObject, resolve: Resolve): SchemaObject | string {
  const schemas = alternativesOf(union).map((one) => resolveSchema(one, resolve));
  const objects = schemas.filter(isClosedObject);
  if (objects.length < schemas.length)
    return "each branch of a document's type must be an object with declared fields alone";
  const told = Object.keys(propertiesOf(objects[0] ?? {})).find((name) =>
    tellsApart(name, objects),
  );
  if (told === undefined)
    return "the branches of a document's type need a field that tells them apart, such as `kind: {const: card}`";
  const branches = objects.map((schema) => ({ schema, values: valuesOf(schema, told) }));
  return joinBranches(told, branches);
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
  const names = [...new Set(branches.flatMap(({ schema }) => Object.keys(propertiesOf(schema))))];
  const shared = names.filter(
    (name) => name !== told && branches.every(({ schema }) => isSame(name, schema, branches)),
  );
  const own = names.filter((name) => name !== told && !shared.includes(name));
  const properties = names.map((name): readonly [string, JsonSchema] => {
    if (name === told) return [name, { enum: branches.flatMap(({ values }) => values) }];
    const [first = true, ...others] = different(name, branches);
    if (shared.includes(name)) return [name, first];
    return [name, nullable(others.length === 0 ? first : { anyOf: [first, ...others] })];
  });
  const [{ schema: some } = { schema: {} }] = branches;
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

/** What the branches that have a member say of it. */
function different(name: string, branches: readonly Branch[]): readonly JsonSchema[] {
  const said = branches.flatMap(({ schema }) => {
    const one = propertiesOf(schema)[name];
    return one === undefined ? [] : [one];
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
