// `since: next` on a member, or on a value of an enumeration: this version reads it, and the next
// one writes it as well.
import type { JsonSchema } from "../model/json-schema.js";

export const laterKeyword = "x-since";
/** Values of a list that are written later. */
export const laterValuesKeyword = "x-since-values";

/** Whether a member is written later. */
export function isWrittenLater(schema: JsonSchema): boolean {
  return typeof schema === "object" && schema[laterKeyword] === "next";
}

/** Values of an enumeration that are written later. */
export function laterValues(schema: JsonSchema): readonly string[] {
  const values = typeof schema === "object" ? schema[laterValuesKeyword] : undefined;
  return Array.isArray(values) ? (values as readonly string[]) : [];
}
