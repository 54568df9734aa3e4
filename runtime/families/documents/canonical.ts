// Canonical forms of stored values: UUIDs in lower case, date-times in UTC with milliseconds, so that text order is their order.
import { isObject } from "../../contract/json-pointer.js";
import { canonicalDateTime } from "../../query/scalar.js";
import type { Canonical } from "../../ports/document-spec.js";

/** The body with the values at the given paths in canonical form; what is absent or null stays so. */
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
    return form === "uuid" ? value.toLowerCase() : canonicalDateTime(value);
  }
  if (step === "[]")
    return Array.isArray(value) ? value.map((item) => rewrite(item, rest, form)) : value;
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: rewrite(value[step], rest, form) };
}
