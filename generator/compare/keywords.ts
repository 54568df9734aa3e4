// Two schemas without alternatives, keyword by keyword.
import { deprecationOfSchema, deprecationOfValue, valuesKeyword } from "../load/deprecations.js";
import { formerValues, formerValuesKeyword } from "../load/former-names.js";
import { removal } from "./deprecations.js";
import { isDeepStrictEqual } from "node:util";
import {
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { own } from "../model/records.js";
import { contains, differences } from "./differences.js";
import { renames } from "./renames.js";
import { meetWithin } from "./meet.js";
import { isDocumentation, valuesOf, words } from "./schema-words.js";
import {
  tellNarrowing,
  tellWidening,
  type Compare,
  type SchemaComparison,
} from "./schema-change.js";

/** Whether a keyword accepts fewer values as its bound grows, or as it shrinks. */
const bounds: Readonly<Record<string, "least" | "most">> = {
  minimum: "least",
  exclusiveMinimum: "least",
  minLength: "least",
  minItems: "least",
  minProperties: "least",
  maximum: "most",
  exclusiveMaximum: "most",
  maxLength: "most",
  maxItems: "most",
  maxProperties: "most",
};
/** Keywords that admit the values they describe. */
const shapes = ["pattern", "format", "multipleOf", "contentMediaType", "contentEncoding"];
/**
 * Those of them that only bound values: a reader gets a value of the same type, within the bound or
 * not.
 */
const boundingShapes: readonly string[] = ["pattern", "multipleOf"];
/** Keywords that are understood here. Any other that differs may mean anything. */
const understood = new Set([
  ...Object.keys(bounds),
  ...shapes,
  "type",
  "const",
  "enum",
  "default",
  "uniqueItems",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "prefixItems",
  "allOf",
  valuesKeyword,
  formerValuesKeyword,
]);

/** Keywords that are one thing together. */
const conditions: readonly string[] = ["if", "then", "else"];

export function compareKeywords(
  before: SchemaObject,
  after: SchemaObject,
  comparison: SchemaComparison,
  compare: Compare,
  path: string,
): void {
  if (!compareKinds(before, after, comparison, path)) return;
  compareBounds(before, after, comparison, path);
  compareMembers(before, after, comparison, compare, path);
  compareItems(before, after, comparison, compare, path);
  const others = new Set<string>();
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (understood.has(keyword) || isDocumentation(keyword)) continue;
    const { [keyword]: old } = before;
    if (isDeepStrictEqual(old, after[keyword])) meetWithin({ [keyword]: old }, comparison);
    else others.add(conditions.includes(keyword) ? "condition" : keyword);
  }
  for (const keyword of others)
    comparison.note({ level: "breaking", path, what: `has another ${keyword}` });
}

/** Types and lists of values; returns whether the rest can be compared. */
function compareKinds(
  before: SchemaObject,
  after: SchemaObject,
  comparison: SchemaComparison,
  path: string,
): boolean {
  const [old, next] = [valuesOf(before), valuesOf(after)];
  if (old !== undefined && next !== undefined) {
    const { gone, added } = differences(old, next);
    const former = formerValues(after);
    const renamed = added.filter(
      (value) => typeof value === "string" && gone.includes(own(former, value)),
    ) as readonly string[];
    for (const value of renamed) {
      const what = `calls ${JSON.stringify(own(former, value))} ${JSON.stringify(value)}`;
      comparison.note({ level: "breaking", path, what, value });
    }
    const others = (value: unknown): boolean =>
      !renamed.some((name) => value === name || value === own(former, name));
    for (const value of gone.filter(others)) {
      const words = `is no longer ${JSON.stringify(value)}`;
      const { level, what } = removal(deprecationOfValue(before, value), comparison.today, words);
      if (level === "breaking") tellNarrowing(comparison, path, what, { value });
      else comparison.note({ level, path, what });
    }
    for (const value of added.filter(others))
      tellWidening(comparison, path, `may be ${JSON.stringify(value)}`, { value });
    return true;
  }
  if (next !== undefined) {
    tellNarrowing(comparison, path, `is ${words(after)} only`);
    if (next.some((value) => !isOfType(value, before["type"])))
      tellWidening(comparison, path, `may be ${words(after)}`);
    return true;
  }
  if (old !== undefined) {
    tellWidening(comparison, path, `may be any ${words(after)}`);
    if (old.some((value) => !isOfType(value, after["type"])))
      tellNarrowing(comparison, path, `is no longer ${words(before)}`);
    return true;
  }
  const [from, to] = [before["type"], after["type"]];
  if (from === to) return true;
  const isWider = to === undefined || (from === "integer" && to === "number");
  const isNarrower = from === undefined || (from === "number" && to === "integer");
  if (isWider) tellWidening(comparison, path, `may be ${words(after)}`);
  else if (isNarrower) tellNarrowing(comparison, path, `is ${words(after)} only`);
  else {
    const what = `is ${words(after)} instead of ${words(before)}`;
    comparison.note({ level: "breaking", path, what });
  }
  return isWider || isNarrower;
}

/** Whether a value is of a type of JSON Schema; of any where there is none. */
function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function compareBounds(
  before: SchemaObject,
  after: SchemaObject,
  comparison: SchemaComparison,
  path: string,
): void {
  for (const [keyword, sense] of Object.entries(bounds)) {
    const [old, next] = [before[keyword], after[keyword]] as readonly (number | undefined)[];
    if (old === next) continue;
    const isNarrower =
      old === undefined || (next !== undefined && (sense === "least" ? next > old : next < old));
    const instead = old === undefined ? "" : ` instead of ${old}`;
    const what = next === undefined ? `has no ${keyword}` : `has ${keyword} ${next}${instead}`;
    // No client's type expresses a bound on values that it reads.
    if (comparison.direction === "answers") comparison.note({ level: "additive", path, what });
    else (isNarrower ? tellNarrowing : tellWidening)(comparison, path, what);
  }
  for (const keyword of shapes) {
    const [old, next] = [before[keyword], after[keyword]];
    if (isDeepStrictEqual(old, next)) continue;
    const instead = old === undefined ? "" : ` instead of ${String(old)}`;
    const what =
      next === undefined ? `has no ${keyword}` : `has ${keyword} ${String(next)}${instead}`;
    if (comparison.direction === "answers" && boundingShapes.includes(keyword))
      comparison.note({ level: "additive", path, what });
    else if (next === undefined) tellWidening(comparison, path, what);
    else if (old === undefined) tellNarrowing(comparison, path, what);
    else comparison.note({ level: "breaking", path, what });
  }
  const [wasUnique, isUnique] = [before["uniqueItems"] === true, after["uniqueItems"] === true];
  if (!wasUnique && isUnique) tellNarrowing(comparison, path, "repeats nothing");
  if (wasUnique && !isUnique) tellWidening(comparison, path, "may repeat values");
}

function compareMembers(
  before: SchemaObject,
  after: SchemaObject,
  comparison: SchemaComparison,
  compare: Compare,
  path: string,
): void {
  const [old, next] = [propertiesOf(before), propertiesOf(after)];
  const [wasRequired, isRequired] = [requiredOf(before), requiredOf(after)];
  const isInput = comparison.direction === "input";
  const [others, newOthers] = [othersOf(before), othersOf(after)];
  const names = new Set([old, next].flatMap(Object.keys).concat(wasRequired, isRequired));
  // A member that an open input ignores is neither refused nor missed.
  const renamed =
    isInput && newOthers !== false ? new Map<string, string>() : renames(before, after);
  for (const [was, called] of renamed) {
    const what = `is called ${called}`;
    comparison.note({ level: "breaking", path: `${path}.${was}`, what, called });
    compare(own(old, was) ?? true, own(next, called) ?? true, comparison, `${path}.${called}`);
    names.delete(was);
    names.delete(called);
  }
  for (const name of names) {
    const at = `${path}.${name}`;
    const [was, is] = [wasRequired.includes(name), isRequired.includes(name)];
    const [schema, now] = [own(old, name), own(next, name)];
    if (schema !== undefined && now === undefined) {
      const { level, what } = removal(deprecationOfSchema(schema), comparison.today);
      const isTaken = isInput && newOthers !== false;
      comparison.note({ level: isTaken ? "additive" : level, path: at, what });
    } else if (schema === undefined && now !== undefined) {
      const isAsked = isInput && is;
      const what = isAsked ? "is new and required" : "is new";
      comparison.note({ level: isAsked ? "breaking" : "additive", path: at, what });
    } else {
      if (!was && is) tellNarrowing(comparison, at, "is required");
      if (was && !is) tellWidening(comparison, at, "may be left out");
      if (!was && isInput) compareDefaults(schema, now, comparison, at);
    }
    // Without a declaration it counts among the others.
    const [then, today] = [schema ?? others, now ?? newOthers];
    const isDeclared = schema !== undefined && now !== undefined;
    if (isDeclared || (isInput && then !== false && today !== false))
      compare(then, today, comparison, at);
  }
  if (others !== false && newOthers === false)
    tellNarrowing(comparison, path, "has no other members");
  // Clients ignore members of an answer that they don't know.
  else if (others === false && newOthers !== false)
    comparison.note({ level: "additive", path, what: "may have other members" });
  else compare(others, newOthers, comparison, `${path}.*`);
}

/** What members without a declaration may be. */
function othersOf(schema: SchemaObject): JsonSchema {
  return (schema["additionalProperties"] ?? true) as JsonSchema;
}

/** A changed default changes the meaning of an absent member. */
function compareDefaults(
  before: JsonSchema | undefined,
  after: JsonSchema | undefined,
  { note }: SchemaComparison,
  path: string,
): void {
  const [old, next] = [before, after].map((schema) =>
    typeof schema === "object" ? schema["default"] : undefined,
  );
  if (isDeepStrictEqual(old, next)) return;
  const value = next === undefined ? "nothing" : JSON.stringify(next);
  note({ level: "breaking", path, what: `is ${value} where it is left out` });
}

function compareItems(
  before: SchemaObject,
  after: SchemaObject,
  comparison: SchemaComparison,
  compare: Compare,
  path: string,
): void {
  const itemsOf = (schema: SchemaObject): JsonSchema => (schema["items"] ?? true) as JsonSchema;
  if ("items" in before || "items" in after)
    compare(itemsOf(before), itemsOf(after), comparison, `${path}[]`);
  const listOf = (schema: SchemaObject, keyword: string): readonly JsonSchema[] =>
    (schema[keyword] ?? []) as readonly JsonSchema[];
  const [places, newPlaces] = [listOf(before, "prefixItems"), listOf(after, "prefixItems")];
  for (let index = 0; index < Math.max(places.length, newPlaces.length); index += 1) {
    const [old, next] = [places[index] ?? itemsOf(before), newPlaces[index] ?? itemsOf(after)];
    compare(old, next, comparison, `${path}[${index}]`);
  }
  // Parts that all hold have no order.
  const [parts, newParts] = [listOf(before, "allOf"), listOf(after, "allOf")];
  const { gone, added } = differences(parts, newParts);
  for (const part of parts.filter((one) => contains(newParts, one)))
    compare(part, part, comparison, path);
  for (let index = 0; index < Math.max(gone.length, added.length); index += 1)
    compare(gone[index] ?? true, added[index] ?? true, comparison, path);
}
