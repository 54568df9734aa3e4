// Types that a schema refers to, at any depth: two schemas with the same text may refer to types
// that have changed.
import {
  listKeywords,
  mapKeywords,
  referredType,
  schemaKeywords,
  type JsonSchema,
} from "../model/json-schema.js";
import type { SchemaComparison } from "./schema-change.js";

/**
 * Compares each type that a schema refers to with its other version; under `not`, a narrower type
 * accepts more.
 */
export function meetWithin(
  schema: JsonSchema,
  { meet }: Pick<SchemaComparison, "meet">,
  isNegated = false,
): void {
  if (typeof schema === "boolean") return;
  const name = referredType(schema);
  if (name !== undefined) meet(name, name, isNegated);
  for (const [keyword, value] of Object.entries(schema)) {
    const inner: readonly JsonSchema[] = mapKeywords.has(keyword)
      ? Object.values(value as Readonly<Record<string, JsonSchema>>)
      : listKeywords.has(keyword)
        ? (value as readonly JsonSchema[])
        : schemaKeywords.has(keyword)
          ? [value as JsonSchema]
          : [];
    for (const one of inner) meetWithin(one, { meet }, isNegated !== (keyword === "not"));
    // Where a condition holds more often, one branch has more values and the other fewer.
    if (keyword === "if") meetWithin(value as JsonSchema, { meet }, !isNegated);
  }
}
