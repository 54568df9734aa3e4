// Scalars of a query, checked against the type of their field and brought into the form in which
// they are stored.
import { canonicalDateTime } from "../contract/canonical-values.js";
import type { FieldType } from "../contract/fields.js";
import { codePointLength, formats } from "../contract/validation.js";
import { limits } from "../contract/limits.js";
import { isUuid } from "../contract/uuid.js";

export type Scalar = string | number | boolean;

/** The scalar in stored form, or undefined if it is no value of that type. */
export function canonicalScalar(type: FieldType, value: unknown): Scalar | undefined {
  switch (type) {
    case "string":
    case "enum":
      return typeof value === "string" && codePointLength(value) <= limits.maxOperandLength
        ? value
        : undefined;
    case "uuid":
      return typeof value === "string" && isUuid(value) ? value.toLowerCase() : undefined;
    case "integer":
    case "number":
      return typeof value === "number" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "date":
      return typeof value === "string" && formats.date(value) ? value : undefined;
    case "date-time":
      return typeof value === "string" && formats["date-time"](value)
        ? canonicalDateTime(value)
        : undefined;
    default:
      return undefined;
  }
}
