// Schemas for openapi.json: types are components, and keywords that only opwright reads are left
// out.
import type { OpenAPIV3_1 } from "openapi-types";
import { withDeprecationText } from "../load/deprecations.js";
import { withoutFormer } from "../load/former-names.js";
import {
  listKeywords,
  mapKeywords,
  mapSchema,
  referredType,
  schemaKeywords,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";

export type Schema = OpenAPIV3_1.SchemaObject;

/** The schema with references to components, and with deprecations in its description. */
export function publishSchema(schema: JsonSchema): Schema {
  if (typeof schema === "boolean") return spelledOut(schema);
  return mapSchema(schema, (written) => {
    const inner = withoutBooleans(written);
    const type = referredType(inner);
    const told = withDeprecationText(withoutFormer(inner));
    return type === undefined ? told : { ...told, $ref: `#/components/schemas/${type}` };
  }) as Schema;
}

/**
 * The schema with an object for each `true` and `false` of its parts: several readers of OpenAPI
 * stop at these. Only `additionalProperties` keeps them, since OpenAPI 3.0 had them there already.
 */
function withoutBooleans(schema: SchemaObject): SchemaObject {
  const told = (inner: unknown): unknown =>
    typeof inner === "boolean" ? spelledOut(inner) : inner;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (mapKeywords.has(keyword))
        return [keyword, mapValues(value as Readonly<Record<string, unknown>>, told)];
      if (listKeywords.has(keyword)) return [keyword, (value as readonly unknown[]).map(told)];
      const isKept = keyword === "additionalProperties" || !schemaKeywords.has(keyword);
      return [keyword, isKept ? value : told(value)];
    }),
  );
}

/** What is the same as `true` or `false`. */
function spelledOut(schema: boolean): Schema {
  return schema ? {} : { not: {} };
}

function mapValues(
  map: Readonly<Record<string, unknown>>,
  change: (value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
