// Types that a schema refers to, wherever in it: what is spelled the same may still refer to types that are not the same.
import {
  listKeywords,
  mapKeywords,
  referredType,
  schemaKeywords,
  type JsonSchema,
} from "../model/json-schema.js";
import type { SchemaComparison } from "./schema-change.js";

/** Types that a schema refers to meet themselves; under `not` what fits fewer lets more through. */
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
  }
}
