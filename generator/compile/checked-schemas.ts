// The schemas that are compiled: each type once, by name, so that compiled functions call each
// other.
import {
  listKeywords,
  mapKeywords,
  mapSchema,
  referredType,
  schemaKeywords,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { sortedRecord } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import type { ValidatorPlan } from "../model/validator-plan.js";

/**
 * The schema that a validator's function checks, by name: its type, which validators can share, or
 * one of its own.
 */
export function checkName(
  { name, schema, fillsDefaults }: Pick<ValidatorPlan, "name" | "schema" | "fillsDefaults">,
  { types }: Pick<RegistryModel, "types">,
): string {
  const type = isReference(schema) ? referredType(schema) : undefined;
  if (type === undefined) return name;
  return fillsDefaults === true && holdsDefaults(type, types) ? filledName(type) : type;
}

/** The name of a type's schema with defaults that are filled in; no type has such a name. */
function filledName(type: string): string {
  return `${type}_filled`;
}

/** Whether a type, or one that it refers to, has a member with a default. */
function holdsDefaults(type: string, types: RegistryModel["types"]): boolean {
  const seen = new Set<string>();
  const look = (name: string): boolean => {
    if (seen.has(name)) return false;
    seen.add(name);
    let found = false;
    mapSchema(types[name] ?? true, (inner) => {
      const referred = referredType(inner);
      found ||= "default" in inner || (referred !== undefined && look(referred));
      return inner;
    });
    return found;
  };
  return look(type);
}

/** Whether a schema is a reference and nothing else. */
function isReference(schema: JsonSchema): boolean {
  return typeof schema === "object" && Object.keys(schema).length === 1 && "$ref" in schema;
}

/**
 * A schema for each function, by name: of validators that check no named type, and of every type
 * that is needed, once. They refer to each other by name; scalar types are inlined. `default` stays
 * only where it is filled in.
 */
export function checkedSchemas(
  plans: readonly Pick<ValidatorPlan, "name" | "schema" | "fillsDefaults">[],
  { types }: Pick<RegistryModel, "types">,
): Readonly<Record<string, SchemaObject>> {
  const schemas: Record<string, SchemaObject> = {};
  const found = new Map<string, SchemaObject>();
  const local = (schema: JsonSchema, fills: boolean): JsonSchema =>
    mapSchema(schema, (whole) => {
      const inner = fills ? whole : withoutDefault(whole);
      const type = referredType(inner);
      if (type === undefined) return inner;
      const referred = types[type] ?? true;
      if (isReference(inner) && isScalar(referred))
        return fills ? referred : withoutDefault(objectOf(referred));
      return { ...inner, $ref: read(type, fills) };
    });
  const read = (type: string, fills: boolean): string => {
    const isFilled = fills && holdsDefaults(type, types);
    const name = isFilled ? filledName(type) : type;
    if (found.has(name)) return name;
    found.set(name, {});
    found.set(name, objectOf(local(types[type] ?? true, isFilled)));
    return name;
  };
  for (const plan of plans) {
    const fills = plan.fillsDefaults === true;
    const type = isReference(plan.schema) ? referredType(plan.schema) : undefined;
    if (type === undefined) schemas[plan.name] = objectOf(local(plan.schema, fills));
    else read(type, fills);
  }
  return Object.assign(schemas, sortedRecord(found));
}

function withoutDefault(schema: SchemaObject): SchemaObject {
  if (!("default" in schema)) return schema;
  const { default: _unused, ...rest } = schema;
  return rest;
}

const holders: ReadonlySet<string> = new Set([
  "$ref",
  ...mapKeywords,
  ...listKeywords,
  ...schemaKeywords,
]);

/** Whether a schema has no subschemas, so that it can be inlined. */
function isScalar(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return false;
  return Object.entries(schema).every(
    ([keyword, value]) => !holders.has(keyword) || typeof value === "boolean",
  );
}

/** The schema as an object of keywords. */
function objectOf(schema: JsonSchema): SchemaObject {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
}

/** The schema with all types that it needs under its own `$defs`. */
export function bundleSchemas(
  schema: JsonSchema,
  model: Pick<RegistryModel, "types">,
): SchemaObject {
  const definitions: Record<string, JsonSchema> = {};
  const local = (part: JsonSchema): JsonSchema =>
    mapSchema(part, (inner) => {
      const type = referredType(inner);
      if (type === undefined) return inner;
      if (!Object.hasOwn(definitions, type)) {
        definitions[type] = true;
        definitions[type] = local(model.types[type] ?? true);
      }
      return { ...inner, $ref: `#/$defs/${type}` };
    });
  const object = objectOf(local(schema));
  if (Object.keys(definitions).length === 0) return object;
  return {
    ...object,
    $defs: sortedRecord(Object.entries(definitions)),
  };
}
