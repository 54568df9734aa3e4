// Reads the texts that a search looks at from a document.
import { valueAt } from "../contract/json-pointer.js";

/** The texts at a dotted path: one, or those in an array. Other values are left out. */
export function textsAt(document: unknown, path: string): readonly string[] {
  const value = valueAt(document, path.split("."));
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((text) => typeof text === "string");
}
