// Schemas in a word or two, and keywords that only document.
import { valuesKeyword } from "../load/deprecations.js";
import { formerValuesKeyword } from "../load/former-names.js";
import {
  propertiesOf,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";

const documentation: readonly string[] = [
  "description",
  "title",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
];

/** Whether a keyword doesn't restrict values. */
export function isDocumentation(keyword: string): boolean {
  if (keyword === valuesKeyword || keyword === formerValuesKeyword) return false;
  return documentation.includes(keyword) || keyword.startsWith("x-");
}

/** A schema in a word or two, enough to distinguish it from its alternatives. */
export function words(schema: JsonSchema): string {
  if (typeof schema === "boolean") return schema ? "anything" : "nothing";
  const name = referredType(schema);
  if (name !== undefined) return `a ${name}`;
  const values = valuesOf(schema);
  if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(" or ");
  const { type, format } = schema;
  const text = typeof type === "string" ? type : "anything";
  const members = Object.entries(propertiesOf(schema)).map(([member, inner]) =>
    typeof inner === "object" && "const" in inner
      ? `${member} ${JSON.stringify(inner["const"])}`
      : member,
  );
  if (members.length > 0) return `${text} with ${members.join(", ")}`;
  return typeof format === "string" ? `${text} (${format})` : text;
}

/** The values that a schema lists. */
export function valuesOf(schema: SchemaObject): readonly unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? (schema["enum"] as unknown[]) : undefined;
}

/** What makes two options versions of each other. */
export function kindOf(schema: JsonSchema): string {
  if (typeof schema === "boolean") return String(schema);
  if (referredType(schema) !== undefined) return "a type";
  if (valuesOf(schema) !== undefined) return "values";
  const { type } = schema;
  return type === "integer" ? "number" : String(type ?? "anything");
}
