// Conditions that stand among the fields of a type.
import { isMap } from "./shape.js";

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
