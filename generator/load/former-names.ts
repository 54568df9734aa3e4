// What rows know of a field otherwise than its type says: its former name (`was`), how it is made
// (`from`), or the value of those that don't have it (`former`).
import type { JsonSchema, SchemaObject } from "../model/json-schema.js";
import { isMap } from "./shape.js";
import { laterKeyword, laterValuesKeyword } from "./written-later.js";

/**
 * A field's former name, the function that makes it of what it was, and what it is in documents
 * that were stored without it, beside the keywords of its schema.
 */
export const formerKeywords = { was: "x-was", from: "x-from", former: "x-former" } as const;

export function isFormerKeyword(keyword: string): keyword is keyof typeof formerKeywords {
  return Object.hasOwn(formerKeywords, keyword);
}

/**
 * What a field is in documents that were stored without it; none if that follows from its
 * default.
 */
export function formerValueOf(schema: JsonSchema | undefined): { readonly is?: unknown } {
  if (typeof schema !== "object" || !Object.hasOwn(schema, formerKeywords.former)) return {};
  return { is: schema[formerKeywords.former] };
}
/** Former names of values of a list, by what they are called now. */
export const formerValuesKeyword = "x-was-values";

/**
 * The function that makes a field of what rows have; undefined where rows have the field as it is.
 */
export function conversionOf(schema: JsonSchema | undefined): string | undefined {
  const by = typeof schema === "object" ? schema[formerKeywords.from] : undefined;
  return typeof by === "string" ? by : undefined;
}

/** What a field was called; undefined if it has not been called otherwise. */
export function formerName(schema: JsonSchema | undefined): string | undefined {
  const name = typeof schema === "object" ? schema[formerKeywords.was] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** What the values of a field were called, by what they are called now. */
export function formerValues(schema: JsonSchema | undefined): Readonly<Record<string, string>> {
  const values = typeof schema === "object" ? schema[formerValuesKeyword] : undefined;
  return isMap(values) ? (values as Readonly<Record<string, string>>) : {};
}

const ofRows: readonly string[] = [
  ...Object.values(formerKeywords),
  formerValuesKeyword,
  laterKeyword,
  laterValuesKeyword,
];

/** A schema without what only rows are concerned with, and what is written to them. */
export function withoutFormer(schema: SchemaObject): SchemaObject {
  if (!ofRows.some((keyword) => keyword in schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !ofRows.includes(keyword)),
  );
}
