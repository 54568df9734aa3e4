// Canonical forms of stored values: UUIDs in lower case, date-times in UTC with milliseconds, so
// that text order is their order.
import { isObject } from "./json-pointer.js";
import { formats } from "./validation.js";

/** A form that the values of a member have when they are stored. */
export type Canonical = "uuid" | "date-time";

/**
 * A date-time (RFC 3339) in UTC with milliseconds; what is finer than a millisecond is cut off.
 */
export function canonicalDateTime(text: string): string {
  // Whatever has been stored before has this form, and making a date takes longer than all else.
  if (text.length === 24 && text.endsWith("Z") && text[10] === "T") return text;
  return new Date(text).toISOString();
}

/**
 * The body with the values at the given paths in canonical form; what is absent, null or wrong
 * stays so.
 */
export function canonicalBody(
  body: Readonly<Record<string, unknown>>,
  paths: Readonly<Record<string, Canonical>>,
): Readonly<Record<string, unknown>> {
  let result: unknown = body;
  for (const [path, form] of Object.entries(paths)) {
    result = rewrite(result, path.replaceAll("[]", ".[]").split(".").filter(Boolean), form);
  }
  return result as Readonly<Record<string, unknown>>;
}

function rewrite(value: unknown, path: readonly string[], form: Canonical): unknown {
  const [step, ...rest] = path;
  if (step === undefined) {
    if (typeof value !== "string") return value;
    if (form === "uuid") return value.toLowerCase();
    return formats["date-time"](value) ? canonicalDateTime(value) : value;
  }
  if (step === "[]")
    return Array.isArray(value) ? value.map((item) => rewrite(item, rest, form)) : value;
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: rewrite(value[step], rest, form) };
}
