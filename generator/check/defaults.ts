// The rule that default values match the schemas of their fields. Loads Ajv only where there are
// defaults to check.
import { bundleSchemas } from "../compile/checked-schemas.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Advice } from "../diagnostics/diagnostics.js";
import { families } from "../families/index.js";
import { shownValue } from "../load/flow-text.js";
import { adviceOn } from "../load/shape-advice.js";
import { readShorthand } from "../load/shorthand.js";
import type { RuleContext } from "../kernel/rule.js";
import { isNullable, type JsonSchema } from "../model/json-schema.js";

/**
 * Reports defaults that do not fit, declared ones and those of schemas; null for a nullable field
 * always fits.
 */
export async function defaultsFit(context: RuleContext): Promise<void> {
  const { types } = context.expanded.model;
  for (const declared of families.flatMap((one) => one.defaults(context))) {
    const { code = "OPW031", what = "default", member, schema, value, at } = declared;
    if (fitsPlainly(schema, value)) continue;
    const message = await faultOf(schema, value, types);
    if (message === undefined) continue;
    const fault = `the ${what} ${shownValue(value)} of ${member} ${message}`;
    context.report({ code, message: fault, at, ...defaultAdvice(schema, value) });
  }
}

/** The value that is likely meant: nearly so called, or of the right type. */
function defaultAdvice(schema: JsonSchema, value: unknown): Advice | undefined {
  if (typeof schema === "boolean") return undefined;
  const { type, enum: values } = schema;
  const [only, ...others] = Array.isArray(values) ? (values as readonly unknown[]) : [];
  // A list as the default of `[string]` says what the brackets were meant for (OPW017).
  const isType = typeof only === "string" && readShorthand(only).kind === "schema";
  if (Array.isArray(value) && isType && others.length === 0)
    return {
      hint: `\`[${only}]\` is the one text "${only}". Write the type as \`"${only}[]"\`, a list.`,
    };
  if (Array.isArray(values)) return { suggestion: didYouMean(String(value), values.map(String)) };
  if (type === "string" && (typeof value === "number" || typeof value === "boolean"))
    return { suggestion: JSON.stringify(String(value)), hint: "A text stands in quotes." };
  const isNumber = (type === "integer" || type === "number") && typeof value === "string";
  if (isNumber && value.trim() !== "" && Number.isFinite(Number(value)))
    return { suggestion: value.trim(), hint: "A number stands without quotes." };
  if (type === "boolean") return adviceOn({ kind: "boolean" }, value);
  return undefined;
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
  return faultOfValue(bundleSchemas(schema, { types }), value);
}
