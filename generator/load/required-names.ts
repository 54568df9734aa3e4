// Names in `required` that a schema does not declare: nobody could send what they ask for.
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { inside, type Finding, type Origin } from "../diagnostics/diagnostics.js";
import { propertiesOf, requiredOf, type SchemaObject } from "../model/json-schema.js";

/** Keywords by which members may be declared beside `properties`. */
const elsewhere = [
  "additionalProperties",
  "patternProperties",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
] as const;

/**
 * A finding for each name that a schema requires and, closed or silent on others, does not declare.
 */
export function undeclaredRequired(schema: SchemaObject, at: Origin): readonly Finding[] {
  const isSilent = elsewhere.every((keyword) => (schema[keyword] ?? false) === false);
  if (!("properties" in schema) || !isSilent) return [];
  const declared = Object.keys(propertiesOf(schema));
  return requiredOf(schema).flatMap((name, index): readonly Finding[] => {
    if (declared.includes(name)) return [];
    return [
      {
        code: "OPW024",
        message: `required names ${JSON.stringify(name)}, which properties do not declare`,
        at: inside(inside(at, "required"), index),
        suggestion: didYouMean(name, declared),
      },
    ];
  });
}
