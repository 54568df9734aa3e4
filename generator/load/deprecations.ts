// `deprecated` of a field: a keyword of JSON Schema for whoever reads it, and beside it the days.
import { inside, type Origin, type Report } from "../diagnostics/diagnostics.js";
import {
  deprecationFacts,
  deprecationModel,
  deprecationText,
  faultOfDays,
  type DeprecationDeclaration,
  type DeprecationModel,
} from "../model/deprecation.js";
import type { JsonSchema, SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { deprecation } from "./format-parts.js";
import { checkShape } from "./check-shape.js";
import { isMap } from "./shape.js";

/** The days of a field. */
export const deprecationKeyword = "x-deprecated";
/** Which values of a list are deprecated, with their days: what a list loses is judged by it. */
export const valuesKeyword = "x-deprecated-values";

/**
 * The keywords of a field that says since when it is deprecated. Reports what is wrong with that.
 */
export function readDeprecation(value: object, at: Origin, report: Report): SchemaObject {
  if (!checkShape(deprecation, value, at, report)) return {};
  // Its shape has been checked.
  const declared = value as DeprecationDeclaration;
  const message = faultOfDays(declared);
  if (message !== undefined) report({ code: "OPW013", message, at: inside(at, "sunset") });
  return { deprecated: true, [deprecationKeyword]: deprecationFacts(deprecationModel(declared)) };
}

/** The deprecation of a field, by its schema; null if it says no days. */
export function deprecationOfSchema(schema: JsonSchema | undefined): DeprecationModel | null {
  return typeof schema === "object" ? modelOf(schema[deprecationKeyword]) : null;
}

/** The deprecation of one value of a list of values. */
export function deprecationOfValue(schema: SchemaObject, value: unknown): DeprecationModel | null {
  const values = schema[valuesKeyword];
  return isMap(values) && typeof value === "string" ? modelOf(own(values, value)) : null;
}

/** An author may use the keyword for something else. */
function modelOf(facts: unknown): DeprecationModel | null {
  if (!isMap(facts) || typeof facts["since"] !== "string") return null;
  const textOf = (member: unknown): string | null => (typeof member === "string" ? member : null);
  return { since: facts["since"], sunset: textOf(facts["sunset"]), use: textOf(facts["use"]) };
}

/** A schema that names fields, as members or as values, with the deprecations of the fields. */
export function withDeprecatedNames(
  schema: SchemaObject,
  fields: Readonly<Record<string, JsonSchema>>,
): SchemaObject {
  const factsOf = (name: string): object | undefined => {
    const found = deprecationOfSchema(own(fields, name.split(".", 1)[0] ?? ""));
    return found === null ? undefined : deprecationFacts(found);
  };
  const { properties, enum: values } = schema;
  const marked = isMap(properties)
    ? {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, inner]) => {
            const facts = factsOf(name);
            const isMarked = facts !== undefined && typeof inner === "object";
            return [
              name,
              isMarked ? { ...inner, deprecated: true, [deprecationKeyword]: facts } : inner,
            ];
          }),
        ),
      }
    : {};
  const named = (Array.isArray(values) ? (values as unknown[]) : []).flatMap((value) => {
    const facts = typeof value === "string" ? factsOf(value) : undefined;
    return facts === undefined ? [] : [[value, facts] as const];
  });
  if (named.length === 0) return { ...schema, ...marked };
  return { ...schema, ...marked, [valuesKeyword]: Object.fromEntries(named) };
}

/** A schema whose description says the days as well, for documents. */
export function withDeprecationText(schema: SchemaObject): SchemaObject {
  const found = deprecationOfSchema(schema);
  if (found === null) return schema;
  const { description } = schema;
  const told = deprecationText(found);
  return {
    ...schema,
    description: typeof description === "string" ? `${description} ${told}` : told,
  };
}
