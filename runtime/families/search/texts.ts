// The texts of a document that a search looks at.
import { valueAt } from "../documents/changes.js";

/** The texts at a dotted path: one, or those of an array. */
export function textsAt(document: unknown, path: string): readonly string[] {
  const value = valueAt(document, path.split("."));
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((text) => typeof text === "string");
}
