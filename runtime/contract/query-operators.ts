// Which operators a field of each type takes; documents, validation and client types follow from it
// (decisions.md "Query language": type gate).
import type { FieldType } from "./fields.js";

const equality = ["$eq", "$neq"] as const;
const order = ["$gt", "$gte", "$lt", "$lte"] as const;
const membership = ["$in", "$nin"] as const;
const text = ["$like", "$ilike", "$regex", "$descendant_of", "$ancestor_of"] as const;
const sets = ["$superset", "$subset", "$overlaps", "$disjoint"] as const;
const quantifiers = ["$any", "$all", "$none"] as const;

export type OrderOperator = (typeof order)[number];
export type SetOperator = (typeof sets)[number];
export type Quantifier = (typeof quantifiers)[number];
export type Operator =
  | (typeof equality)[number]
  | OrderOperator
  | (typeof membership)[number]
  | (typeof text)[number]
  | SetOperator
  | Quantifier
  | "$null"
  | "$empty";

/** Every operator, in the order of decisions.md. */
export const operators: readonly Operator[] = [
  ...equality,
  ...order,
  ...membership,
  "$null",
  "$empty",
  ...text,
  ...sets,
  ...quantifiers,
];

/** Operators of `$fields`, which compares two fields. */
export const fieldOperators: readonly Operator[] = [...equality, ...order];

/** The operators of a field. */
export function operatorsOf(type: FieldType): readonly Operator[] {
  if (type === "object") return [...equality, "$null"];
  if (type === "object[]") return ["$null", "$empty", ...quantifiers];
  if (type.endsWith("[]")) return ["$null", "$empty", ...sets, ...quantifiers];
  switch (type) {
    case "string":
      return [...equality, ...membership, "$null", ...text];
    case "boolean":
      return [...equality, ...membership, "$null"];
    default:
      return [...equality, ...order, ...membership, "$null"];
  }
}

/** Whether rows can be sorted and grouped by such a field. */
export function isScalarType(type: FieldType): boolean {
  return type !== "object" && !type.endsWith("[]");
}

/** The type of an array's elements. */
export function elementType(type: FieldType): FieldType {
  // `T[]` without its brackets is one of the scalar types.
  return type.replace(/\[\]$/, "") as FieldType;
}
