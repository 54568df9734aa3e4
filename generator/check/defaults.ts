// The rule that default values match the schemas of their fields. Loads Ajv only where there are defaults to check.
import { bundled } from "../compile/checked-schemas.js";
import { families } from "../families/index.js";
import type { RuleContext } from "../kernel/rule.js";
import { isNullable, type JsonSchema } from "../model/json-schema.js";

/** Reports defaults that do not fit, declared ones and those of schemas; null for a nullable field always fits. */
export async function defaultsFit(context: RuleContext): Promise<void> {
  const { types } = context.expanded.model;
  for (const { what = "default of", member, schema, value, at } of families.flatMap((one) =>
    one.defaults(context),
  )) {
    if (fitsPlainly(schema, value)) continue;
    const message = await faultOf(schema, value, types);
    if (message !== undefined)
      context.report({ code: "OPW031", message: `the ${what} ${member} ${message}`, at });
  }
}

/** The common cases, for which no validator needs to be compiled. */
function fitsPlainly(schema: JsonSchema, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  if (value === null && isNullable(schema)) return true;
  const keywords = Object.keys(schema).filter(
    (key) => key !== "description" && key !== "title" && key !== "default",
  );
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.includes(value);
  if (type === "boolean") return typeof value === "boolean";
  if (type === "array" && Array.isArray(value) && value.length === 0)
    return !keywords.includes("minItems");
  return keywords.length === 1 && (type === "string" || type === "number") && typeof value === type;
}

async function faultOf(
  schema: JsonSchema,
  value: unknown,
  types: Readonly<Record<string, JsonSchema>>,
): Promise<string | undefined> {
  const { faultOfValue } = await import("../compile/ajv-value.js");
  return faultOfValue(bundled(schema, { types }), value);
}
