// Schemas for openapi.json: types are components, and keywords that only opwright reads are left out.
import type { OpenAPIV3_1 } from "openapi-types";
import { withDeprecationText } from "../load/deprecations.js";
import { withoutFormer } from "../load/former-names.js";
import { mapSchema, referredType, type JsonSchema } from "../model/json-schema.js";

export type Schema = OpenAPIV3_1.SchemaObject;

/** The schema with references to components, and with deprecations in its description. */
export function published(schema: JsonSchema): Schema {
  return mapSchema(schema, (inner) => {
    const type = referredType(inner);
    const told = withDeprecationText(withoutFormer(inner));
    return type === undefined ? told : { ...told, $ref: `#/components/schemas/${type}` };
  }) as Schema;
}
