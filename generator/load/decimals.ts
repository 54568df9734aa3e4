// `decimal: 2` of a field: a number with so many places, as sums of money are. JSON and JavaScript
// have only doubles; those have 15 decimal digits without loss.
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import type { SchemaObject } from "../model/json-schema.js";

const digits = 15;

/** How many places a decimal may have: SQLite reads some texts with more one bit off. */
export const maxPlaces = 4;

/**
 * The keywords that a sound `decimal` stands for: a multiple of the last place, within the digits
 * that a double keeps, and within its own bounds. Reports what can be no decimal.
 */
export function readDecimal(
  schema: Readonly<Record<string, unknown>>,
  at: Origin,
  report: Report,
): SchemaObject {
  const fault = faultOf(schema);
  if (fault !== null) {
    report({ code: "OPW101", message: fault, at });
    return {};
  }
  const { type = "number", minimum, maximum } = schema;
  const places = Number(schema["decimal"]);
  const fraction = places === 0 ? "" : `.${"9".repeat(places)}`;
  const most = Number(`${"9".repeat(digits - places)}${fraction}`);
  return {
    type,
    multipleOf: Number(`1e-${places}`),
    minimum: typeof minimum === "number" ? Math.max(minimum, -most) : -most,
    maximum: typeof maximum === "number" ? Math.min(maximum, most) : most,
  };
}

/** What keeps a schema from being a decimal; null if nothing does. */
function faultOf({
  type = "number",
  multipleOf,
}: Readonly<Record<string, unknown>>): string | null {
  const other = [type].flat().find((one) => one !== "number" && one !== "null");
  if (other !== undefined) return `decimal is about numbers, not ${String(other)}`;
  return multipleOf === undefined ? null : "decimal and multipleOf exclude each other";
}

/** The places of a schema whose numbers are decimals; undefined if they are not. */
export function placesOf(schema: SchemaObject): number | undefined {
  const match = /^1e-(\d)$/.exec(Number(schema["multipleOf"]).toExponential());
  const places = match === null ? undefined : Number(match[1]);
  return schema["multipleOf"] === 1 ? 0 : places;
}
