// Field shorthand: one small closed grammar (registry.md, rule 3) → JSON Schema.
import { own } from "../model/records.js";
import { nullable, refTo, type JsonSchema } from "../model/json-schema.js";

const scalars: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  uuid: { type: "string", format: "uuid" },
  date: { type: "string", format: "date" },
  "date-time": { type: "string", format: "date-time" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
};

export const shorthandScalars = Object.keys(scalars);

/** What a shorthand says: a schema, an unknown type name, or nothing in the grammar. */
export type Shorthand =
  | { readonly kind: "schema"; readonly schema: JsonSchema; readonly typeName: string | undefined }
  | { readonly kind: "malformed"; readonly base: string };

/** Reads `uuid?`, `string[]`, `Task[]?` and the like. Suffixes apply from left to right. */
export function readShorthand(text: string): Shorthand {
  const match = /^([A-Za-z][A-Za-z0-9-]*)((?:\[\]|\?)*)$/.exec(text);
  const base = match?.[1] ?? text;
  const isTypeName = /^[A-Z][A-Za-z0-9]*$/.test(base);
  const start = isTypeName ? refTo(base) : own(scalars, base);
  if (match === null || start === undefined) return { kind: "malformed", base };
  let schema: JsonSchema = start;
  for (const [suffix] of (match[2] ?? "").matchAll(/\[\]|\?/g)) {
    schema = suffix === "?" ? nullable(schema) : { type: "array", items: schema };
  }
  return { kind: "schema", schema, typeName: isTypeName ? base : undefined };
}
