// The columns of rows: the fields of their type.
import { propertiesOf, referredType, type JsonSchema } from "./json-schema.js";

/** The names of a type's fields, in their order; none if it isn't an object with fields. */
export function columnsOf(
  schema: JsonSchema,
  typeNamed: (name: string) => JsonSchema | undefined,
): readonly string[] {
  const referred = referredType(schema);
  const declared = referred === undefined ? schema : typeNamed(referred);
  if (declared === undefined) return [];
  return referred === undefined
    ? Object.keys(propertiesOf(declared))
    : columnsOf(declared, typeNamed);
}
