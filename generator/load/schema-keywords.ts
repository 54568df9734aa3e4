// The JSON Schema 2020-12 keywords that opwright compiles, and what value each may have.
import { maxPlaces } from "./decimals.js";
import { formats } from "../../runtime/contract/validation.js";
import { listKeywords, mapKeywords, schemaKeywords } from "../model/json-schema.js";
import { isMap } from "./shape.js";

/** What a JSON Schema may call a type. */
export const schemaTypes: readonly string[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];

const isCount = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number";
const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isAnything = (): boolean => true;

/**
 * A check of a keyword's value, and what it asks for; null if the value is a schema, a list or a
 * map of schemas.
 */
export interface KeywordRule {
  readonly isValid: (value: unknown) => boolean;
  readonly asks: string;
}

const rule = (isValid: (value: unknown) => boolean, asks: string): KeywordRule => ({
  isValid,
  asks,
});
const count = rule(isCount, "an integer from 0");
const number = rule(isNumber, "a number");
const flag = rule((value) => typeof value === "boolean", "true or false");
const text = rule(isText, "a text");
const anything = rule(isAnything, "any value");

function isPlaces(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxPlaces;
}

/** Keywords with a plain value. */
export const keywordRules: Readonly<Record<string, KeywordRule>> = {
  type: rule(
    (value) =>
      schemaTypes.includes(value as string) ||
      (isTexts(value) &&
        (value as string[]).length > 0 &&
        (value as string[]).every((name) => schemaTypes.includes(name))),
    `one of ${schemaTypes.join(", ")}, or a list of them`,
  ),
  enum: rule((value) => Array.isArray(value) && value.length > 0, "a list of values"),
  const: anything,
  decimal: rule(isPlaces, `a number of places from 0 to ${maxPlaces}`),
  multipleOf: rule((value) => isNumber(value) && (value as number) > 0, "a number above 0"),
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: rule(isPattern, "a regular expression"),
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  maxProperties: count,
  minProperties: count,
  required: rule(isTexts, "a list of different names"),
  dependentRequired: rule(
    (value) => typeof value === "object" && value !== null && Object.values(value).every(isTexts),
    "a map of lists of names",
  ),
  format: rule(
    (value) => isText(value) && Object.hasOwn(formats, value as string),
    `one of ${Object.keys(formats).join(", ")}`,
  ),
  $ref: text,
  $comment: text,
  $schema: text,
  title: text,
  description: text,
  default: anything,
  examples: rule(Array.isArray, "a list"),
  deprecated: flag,
  was: text,
  from: rule(
    (value) =>
      isText(value) && /^[\w@./-]+\.(?:ts|mts|js|mjs)#[A-Za-z_$][\w$]*$/.test(value as string),
    "a function such as registry/migrations/tasks.ts#toInteger",
  ),
  former: anything,
  since: rule((value) => value === "next", "next"),
  readOnly: flag,
  writeOnly: flag,
};

/** Promises of JSON Schema that a type can't keep by itself, and what keeps them. */
export const promises: Readonly<Record<string, string>> = {
  readOnly:
    "leave the field out of `create` and `update`, or give it to your handlers with `set: {field: $handler}`",
  writeOnly: "a stored field is answered; declare a type without it for `out`, and store a digest",
};

/** Keywords of JSON Schema 2020-12 that are refused by name. */
export const unsupportedKeywords: readonly string[] = [
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$vocabulary",
  "contains",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "dependentSchemas",
  "maxContains",
  "minContains",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/** Every keyword that is compiled. */
export const everyKeyword: readonly string[] = [
  ...Object.keys(keywordRules),
  ...mapKeywords,
  ...listKeywords,
  ...schemaKeywords,
];

const shapingKeywords = [
  "$ref",
  "properties",
  "patternProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "enum",
  "const",
  "decimal",
];

/**
 * Whether a map is a JSON Schema rather than a map of fields: it has nothing but keywords, and one
 * that shapes values.
 */
export function isJsonSchema(value: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(value);
  // Fields have been called so.
  const isField = (given: unknown): boolean =>
    isMap(given) || Array.isArray(given) || (typeof given === "string" && !/^\d+$/.test(given));
  if (isField(value["decimal"])) return isMap(value["properties"]);
  const isKeyword = (key: string): boolean =>
    everyKeyword.includes(key) || unsupportedKeywords.includes(key) || key.startsWith("x-");
  if (!keys.every(isKeyword)) return isMap(value["properties"]);
  if ("type" in value) return keywordRules["type"]?.isValid(value["type"]) === true;
  return (
    keys.some((key) => shapingKeywords.includes(key) && typeof value[key] !== "string") ||
    typeof value["$ref"] === "string"
  );
}

/** Whether a value is the source of a regular expression. */
export function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}
