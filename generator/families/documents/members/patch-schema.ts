// Merge patches (RFC 7396): the schema of one, and where null is a value instead of removing
// (decisions.md §1).
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import {
  isNullable,
  nullable,
  objectSchema,
  propertiesOf,
  requiredOf,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { maxDepth } from "./fields.js";
import { formsOf, holdsMembers, payloadMembers } from "../queries/forms.js";

/**
 * Dotted paths of members for which null is a value; `*` stands for the members of a map. What is
 * in arrays is none.
 */
export function nullablePaths(
  schemas: readonly JsonSchema[],
  resolve: Resolve,
  at: readonly string[] = [],
): readonly string[] {
  if (at.length >= maxDepth || schemas.length === 0) return [];
  const { named, others } = payloadMembers(schemas, resolve);
  const members = [...named].flatMap(([name, standing]) => {
    const path = [...at, name];
    // Where one form has no null for it, null could never remove it there.
    const isValue =
      standing.length > 0 && standing.every((schema) => isNullableMember(schema, resolve));
    return [...(isValue ? [path.join(".")] : []), ...nullablePaths(standing, resolve, path)];
  });
  return [...members, ...nullablePaths(others, resolve, [...at, "*"])];
}

/** Whether null in a merge patch sets the member instead of removing it. */
function isNullableMember(schema: JsonSchema, resolve: Resolve): boolean {
  return isNullable(schema) || isNullable(resolveSchema(schema, resolve));
}

/**
 * The schema of a merge patch of some members: all optional, null if it removes or is a value,
 * objects in part.
 */
export function patchSchema(
  schema: JsonSchema,
  names: readonly string[],
  resolve: Resolve,
  depth = 0,
): SchemaObject {
  const properties = propertiesOf(schema);
  const required = new Set(requiredOf(schema));
  const members = names
    .filter((name) => Object.hasOwn(properties, name))
    .map((name): readonly [string, JsonSchema] => {
      const property = properties[name] ?? true;
      const partial = partialValue(property, resolve, depth);
      return [name, required.has(name) ? partial : nullable(partial)];
    });
  return objectSchema(Object.fromEntries(members), []);
}

/**
 * The patch of a value: objects in part, in each of the forms that it may have. What comes of it is
 * checked as a whole.
 */
function partialValue(schema: JsonSchema, resolve: Resolve, depth: number): JsonSchema {
  const value = resolveSchema(withoutNull(schema), resolve);
  if (typeof value === "boolean" || !formsOf(value, resolve).some(holdsMembers))
    return stripDefault(schema);
  const partial = partialForms(value, resolve, depth);
  return isNullableMember(schema, resolve) ? nullable(partial) : partial;
}

function partialForms(value: SchemaObject, resolve: Resolve, depth: number): JsonSchema {
  if (holdsMembers(value)) return partialForm(value, resolve, depth);
  // A further level each time: a type that has itself among its options ends as well.
  if (depth >= maxDepth) return true;
  const options = (value["anyOf"] ?? value["oneOf"] ?? value["allOf"] ?? []) as JsonSchema[];
  const partials = options.map((option) => partialValue(option, resolve, depth + 1));
  const said = "description" in value ? { description: value["description"] } : {};
  if (!("anyOf" in value || "oneOf" in value)) return { ...said, allOf: partials };
  const names = [...payloadMembers([value], resolve).named.keys()];
  return { ...said, anyOf: partials.map((partial) => allowRemoving(partial, names)) };
}

/** The patch with which a value gets another form: null removes what its form now has not. */
function allowRemoving(partial: JsonSchema, names: readonly string[]): JsonSchema {
  if (typeof partial === "boolean" || partial["additionalProperties"] !== false) return partial;
  const properties = propertiesOf(partial);
  const others = names.filter((name) => !Object.hasOwn(properties, name));
  const removed = Object.fromEntries(others.map((name) => [name, { type: "null" }]));
  return { ...partial, properties: { ...properties, ...removed } };
}

/** The patch of an object too deep to be followed. */
const anyObject: SchemaObject = { type: "object", additionalProperties: true };

/** The patch of an object, beside the other types that its schema may name. */
function partialForm(value: SchemaObject, resolve: Resolve, depth: number): JsonSchema {
  const partial = depth >= maxDepth ? anyObject : partialObject(value, resolve, depth + 1);
  const { type } = value;
  if (type === "object") return partial;
  if (Array.isArray(type)) {
    const others = type.filter((name) => name !== "object");
    return { anyOf: [partial, { ...withoutMembers(value), type: others }] };
  }
  const { type: _object, ...ofObjects } = partial;
  return { ...withoutMembers(value), ...ofObjects };
}

/**
 * The patch of an object: each member may be left out, and null removes those that need not be
 * there, of maps as well.
 */
function partialObject(value: SchemaObject, resolve: Resolve, depth: number): SchemaObject {
  const member = (schema: JsonSchema): JsonSchema => nullable(partialValue(schema, resolve, depth));
  const { propertyNames, patternProperties: patterns, additionalProperties: others = true } = value;
  const further = others as JsonSchema;
  return {
    ...patchSchema(value, Object.keys(propertiesOf(value)), resolve, depth),
    ...(propertyNames === undefined ? {} : { propertyNames }),
    ...(patterns === undefined
      ? {}
      : {
          patternProperties: Object.fromEntries(
            Object.entries(patterns as Readonly<Record<string, JsonSchema>>).map(
              ([pattern, schema]) => [pattern, member(schema)],
            ),
          ),
        }),
    additionalProperties: typeof further === "boolean" ? further : member(further),
  };
}

/** Keywords that say something of objects alone, or of the body as a whole. */
const ofMembers = new Set(
  `default properties patternProperties additionalProperties propertyNames required dependentRequired minProperties
  maxProperties anyOf oneOf allOf not if then else`.split(/\s+/),
);

/** The part of a schema about values that are no objects. */
function withoutMembers(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ofMembers.has(keyword)));
}

function stripDefault(schema: JsonSchema): JsonSchema {
  if (typeof schema === "boolean" || !("default" in schema)) return schema;
  const { default: _unused, ...rest } = schema;
  return rest;
}
