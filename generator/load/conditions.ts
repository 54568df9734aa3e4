// Conditions that stand among the fields of a type.
import type { Finding, Origin } from "../diagnostics/diagnostics.js";
import { inside } from "../diagnostics/diagnostics.js";
import { isMap } from "./shape.js";

const words = ["if", "then", "else"];

/** Half a condition among fields: an `if` without `then` and `else`, or one of these alone. */
export function halfCondition(
  fields: Readonly<Record<string, unknown>>,
  at: Origin,
): Finding | undefined {
  const isSchema = (value: unknown): boolean =>
    isMap(value) && ["properties", "required", "not"].some((keyword) => keyword in value);
  const said = words.filter((word) => isSchema(fields[word]));
  const [word] = said;
  const isWhole = said.includes("if") && said.length > 1;
  if (word === undefined || isWhole || Object.hasOwn(conditionsAmong(fields), word))
    return undefined;
  const message = "a condition has an `if`, and a `then` or an `else`";
  return { code: "OPW013", message, at: { ...inside(at, word), isKey: true } };
}

/**
 * The conditions that stand among fields: `if` with `then` or `else`, and an `allOf` of such. Their
 * values are schemas of objects, which no field of one of these names is.
 */
export function conditionsAmong(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isCondition = (value: unknown): boolean =>
    isMap(value) && isMap(value["if"]) && (isMap(value["then"]) || isMap(value["else"]));
  const { allOf } = fields;
  const isList = Array.isArray(allOf) && allOf.length > 0 && allOf.every(isCondition);
  const names = [
    ...(isCondition(fields) ? ["if", "then", "else"] : []),
    ...(isList ? ["allOf"] : []),
  ];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}
