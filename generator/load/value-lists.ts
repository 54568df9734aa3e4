// Lists of values: `[open, done]`, and values that were called otherwise or that go one day.
import { inside, type Origin, type Report } from "../diagnostics/diagnostics.js";
import type { SchemaObject } from "../model/json-schema.js";
import { readDeprecation, deprecationKeyword, valuesKeyword } from "./deprecations.js";
import { formerValuesKeyword } from "./former-names.js";
import { optional, required, deprecation, text } from "./format-parts.js";
import { laterValuesKeyword } from "./written-later.js";
import { checkShape } from "./check-shape.js";
import { isMap, type Declared, type FormatShape } from "./shape.js";

/** A value of which more is said than itself. */
const describedValue = {
  kind: "object",
  members: {
    value: required(text, "The value."),
    was: optional(text, "What it was called before; rows know it as that."),
    since: optional(
      { kind: "constant", value: "next" },
      "`next` lets this version read the value; the next one, without this, writes it as well.",
    ),
    deprecated: optional(deprecation, "Since when it is deprecated."),
  },
} as const satisfies FormatShape;

/** Whether more is said of a value of `enum` than itself. An object may also be a value. */
export function isDescribed(item: unknown): boolean {
  if (!isMap(item) || typeof item["value"] !== "string") return false;
  const others = Object.keys(item).filter((key) => key !== "value");
  return others.length > 0 && others.every((key) => Object.hasOwn(describedValue.members, key));
}

/** The type that all values have, if they have one: fields without a type cannot be queried. */
function typeOf(values: readonly unknown[]): SchemaObject {
  if (values.every((value) => Number.isInteger(value))) return { type: "integer" };
  const [type, ...others] = new Set(values.map((value) => typeof value));
  return type === undefined || others.length > 0 ? {} : { type };
}

/**
 * The keywords of a list of values; undefined if it is none. What is wrong in its values is
 * reported.
 */
export function readValues(
  items: readonly unknown[],
  at: Origin,
  report: Report,
): SchemaObject | undefined {
  const values: unknown[] = [];
  const former: [string, string][] = [];
  const later: string[] = [];
  const deprecated: [string, unknown][] = [];
  for (const [index, item] of items.entries()) {
    const here = inside(at, index);
    if (!isMap(item)) {
      values.push(item);
      continue;
    }
    if (!checkShape(describedValue, item, here, report)) continue;
    const { value, was, since, deprecated: days } = item as Declared<typeof describedValue>;
    values.push(value);
    if (was !== undefined) former.push([value, was]);
    if (since !== undefined) later.push(value);
    if (days === undefined) continue;
    const read = readDeprecation(days, inside(here, "deprecated"), report);
    deprecated.push([value, read[deprecationKeyword]]);
  }
  const isSound =
    values.length > 0 &&
    values.every((value) => ["string", "number", "boolean"].includes(typeof value));
  if (!isSound || new Set(values).size !== values.length) return undefined;
  const twice = former.find(([, was], at) => former.findIndex(([, one]) => one === was) < at);
  if (twice !== undefined)
    report({ code: "OPW013", message: `two values cannot both have been called ${twice[1]}`, at });
  const shared = former.find(([, was]) => values.includes(was) && !former.some(([v]) => v === was));
  if (shared !== undefined)
    report({
      code: "OPW013",
      message: `${shared[1]} is still a value, so ${shared[0]} cannot have been called that`,
      at,
    });
  if (later.length === values.length)
    report({ code: "OPW095", message: "all values are written later, so none is left", at });
  return {
    ...typeOf(values),
    enum: values,
    ...(former.length === 0 ? {} : { [formerValuesKeyword]: Object.fromEntries(former) }),
    ...(later.length === 0 ? {} : { [laterValuesKeyword]: later }),
    ...(deprecated.length === 0 ? {} : { [valuesKeyword]: Object.fromEntries(deprecated) }),
  };
}
