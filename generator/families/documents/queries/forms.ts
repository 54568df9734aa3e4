// The forms that a value may have: what a schema says itself, and what it joins by `anyOf`, `oneOf`
// and `allOf`.
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import { propertiesOf, type JsonSchema, type SchemaObject } from "../../../model/json-schema.js";

/**
 * A schema and those that it joins, to the last, references followed. One that holds itself stands
 * once.
 */
export function formsOf(
  schema: JsonSchema,
  resolve: Resolve,
  seen = new Set<JsonSchema>(),
): readonly SchemaObject[] {
  const value = resolveSchema(schema, resolve);
  if (typeof value === "boolean" || seen.has(value)) return [];
  seen.add(value);
  return [value, ...joinedBy(value).flatMap((part) => formsOf(part, resolve, seen))];
}

function joinedBy(form: SchemaObject): readonly JsonSchema[] {
  return ["anyOf", "oneOf", "allOf"].flatMap((keyword) => (form[keyword] ?? []) as JsonSchema[]);
}

/** Whether a form says of objects what their members are, whatever else its values may be. */
export function holdsMembers({ type, ...form }: SchemaObject): boolean {
  if (type === undefined) return "properties" in form || "patternProperties" in form;
  return Array.isArray(type) ? type.includes("object") : type === "object";
}

/** The members of objects, each with the schemas that it has by their forms. */
export interface Members {
  readonly named: ReadonlyMap<string, readonly JsonSchema[]>;
  /** Of members that no form names. */
  readonly others: readonly JsonSchema[];
}

/** The members of the objects among the values of some schemas. */
export function payloadMembers(schemas: readonly JsonSchema[], resolve: Resolve): Members {
  const groups = schemas.map((schema) => formsOf(schema, resolve));
  const names = new Set(groups.flat().flatMap((form) => Object.keys(propertiesOf(form))));
  const named = [...names].map((name): readonly [string, readonly JsonSchema[]] => [
    name,
    groups.flatMap((forms) => standingAt(name, forms)),
  ]);
  return {
    named: new Map(named),
    others: groups.flat().filter(saysMembers).flatMap(unnamedMembers),
  };
}

/**
 * What a member may be by the forms of one schema. The first is the schema itself, which holds
 * whatever it joins.
 */
function standingAt(name: string, forms: readonly SchemaObject[]): readonly JsonSchema[] {
  const [own, ...joined] = forms;
  if (own === undefined) return [];
  const held = Object.hasOwn(propertiesOf(own), name) ? [own] : [own, ...joined];
  return held.filter(saysMembers).flatMap((form) => memberOf(form, name));
}

function memberOf(form: SchemaObject, name: string): readonly JsonSchema[] {
  const properties = propertiesOf(form);
  if (Object.hasOwn(properties, name)) return [properties[name] ?? true];
  const matching = Object.entries(patternsOf(form)).filter(([pattern]) =>
    new RegExp(pattern, "u").test(name),
  );
  if (matching.length > 0) return matching.map(([, schema]) => schema);
  return othersOf(form);
}

/** What joins others and names nothing leaves the word to them. */
function saysMembers(form: SchemaObject): boolean {
  return holdsMembers(form) && ("properties" in form || joinedBy(form).length === 0);
}

function unnamedMembers(form: SchemaObject): readonly JsonSchema[] {
  return [...Object.values(patternsOf(form)), ...othersOf(form)];
}

function patternsOf(form: SchemaObject): Readonly<Record<string, JsonSchema>> {
  return (form["patternProperties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function othersOf(form: SchemaObject): readonly JsonSchema[] {
  const others = (form["additionalProperties"] ?? true) as JsonSchema;
  return others === false ? [] : [others];
}
