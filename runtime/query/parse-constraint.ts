// What a filter says of one field: a literal, a list, null, or operators with operands
// (decisions.md "Query language").
import { fail } from "../contract/errors.js";
import type { FieldType } from "../contract/fields.js";
import { limits } from "../contract/limits.js";
import {
  isScalarType,
  operators,
  operatorsOf,
  type Operator,
} from "../contract/query-operators.js";
import { codePointLength } from "../contract/validation.js";
import type { Filter } from "./ast.js";
import { elementOf, type FieldReference } from "./fields.js";
import { isObject, pointer } from "../contract/json-pointer.js";
import { parsePattern } from "./pattern.js";
import { canonicalScalar, type Scalar } from "./scalar.js";

/** What parsing one field needs of the whole filter. */
export interface Clauses {
  /** Counts a constraint. Throws `query_too_complex` if there are too many. */
  count(at: string): void;
  /** The declared fields below an object's path. */
  below(path: string): readonly FieldReference[];
  /** A member of the objects in an array. */
  member(array: string, path: string): FieldReference | undefined;
}

/** The conditions on one field; all of them hold. */
export function parseConstraint(
  field: FieldReference,
  operand: unknown,
  at: string,
  clauses: Clauses,
): readonly Filter[] {
  const one = (operator: Operator, value: unknown, here: string): Filter => {
    clauses.count(here);
    if (!operatorsOf(field.type).includes(operator))
      throw fail("query_operator_type_mismatch", { path: here, operator, type: field.type });
    return parseOperator(field, operator, value, here, clauses);
  };
  if (operand === null) return [one("$null", true, at)];
  if (Array.isArray(operand)) return [one("$in", operand, at)];
  if (!isObject(operand)) return [one("$eq", operand, at)];
  const entries = Object.entries(operand);
  if (entries.length === 0) throw invalid(at, "must name an operator");
  return entries.map(([name, value]) => {
    const here = pointer(at, name);
    if (!operators.includes(name as Operator)) throw invalid(here, "unknown operator");
    return one(name as Operator, value, here);
  });
}

function parseOperator(
  field: FieldReference,
  operator: Operator,
  value: unknown,
  at: string,
  clauses: Clauses,
): Filter {
  switch (operator) {
    case "$eq":
    case "$neq":
      if (field.type === "object") return equalObject(field, operator, value, at, clauses);
      return { kind: "compare", field, operator, value: scalarAt(field, value, at) };
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      return { kind: "compare", field, operator, value: scalarAt(field, value, at) };
    case "$in":
    case "$nin":
      return {
        kind: "in",
        field,
        isNegated: operator === "$nin",
        values: scalarsAt(field, value, at),
      };
    case "$null":
      return { kind: "null", field, isNull: flagAt(value, at) };
    case "$empty":
      return { kind: "empty", field, isEmpty: flagAt(value, at) };
    case "$like":
    case "$ilike": {
      const patterns = patternsAt(value, at);
      countAlternatives(patterns, at, clauses);
      if (patterns.some((pattern) => /(?:^|[^\\])(?:\\\\)*\\$/.test(pattern)))
        throw invalid(at, "a pattern cannot end with a single backslash");
      return { kind: "like", field, patterns, ignoresCase: operator === "$ilike" };
    }
    case "$regex": {
      const patterns = patternsAt(value, at).flatMap((text) => {
        const parsed = parsePattern(text);
        if (parsed === null)
          throw invalid(at, "only literals, ., .*, [classes], ^, $ and | are run");
        return parsed;
      });
      if (patterns.length > limits.maxAlternatives)
        throw fail("query_too_complex", { path: at, limit: limits.maxAlternatives });
      countAlternatives(patterns, at, clauses);
      return { kind: "matches", field, patterns };
    }
    case "$descendant_of":
    case "$ancestor_of": {
      const path = String(scalarAt({ type: "string" }, value, at));
      return {
        kind: "hierarchy",
        field,
        relation: operator === "$descendant_of" ? "below" : "above",
        path,
      };
    }
    case "$superset":
    case "$subset":
    case "$overlaps":
    case "$disjoint":
      return {
        kind: "set",
        field,
        operator,
        values: scalarsAt(elementOf(field), value, at),
      };
    case "$any":
    case "$all":
    case "$none": {
      const filters =
        field.type === "object[]"
          ? membersOfElement(field, value, at, clauses)
          : parseConstraint(elementOf(field), value, at, clauses);
      return { kind: "quantified", field, quantifier: operator, filter: { kind: "all", filters } };
    }
  }
}

/**
 * Constraints on members of one object of the array, as `$values` has them on fields; all of them
 * hold.
 */
function membersOfElement(
  { path }: FieldReference,
  value: unknown,
  at: string,
  clauses: Clauses,
): readonly Filter[] {
  if (!isObject(value)) throw mismatch("object", at);
  const entries = Object.entries(value);
  if (entries.length === 0) throw invalid(at, "must name a member");
  return entries.flatMap(([name, operand]) => {
    const here = pointer(at, name);
    const member = clauses.member(path, name);
    if (member === undefined) throw fail("field_not_queryable", { path: here });
    return parseConstraint(member, operand, here, clauses);
  });
}

/**
 * An object equals where each of its declared members does; one with members that cannot be
 * compared is refused.
 */
function equalObject(
  field: FieldReference,
  operator: "$eq" | "$neq",
  value: unknown,
  at: string,
  clauses: Clauses,
): Filter {
  if (!isObject(value)) throw mismatch("object", at);
  const members = clauses.below(field.path);
  const leaves = members.filter(({ type }) => type !== "object");
  if (leaves.length === 0 || leaves.some(({ type }) => !isScalarType(type)))
    throw mismatch("object", at);
  const given = new Map<string, unknown>();
  const flatten = (object: Readonly<Record<string, unknown>>, path: string, here: string): void => {
    for (const [name, inner] of Object.entries(object)) {
      const [below, place] = [`${path}.${name}`, pointer(here, name)];
      const member = members.find((candidate) => candidate.path === below);
      if (member === undefined) throw fail("field_not_queryable", { path: place });
      if (member.type !== "object") given.set(below, inner);
      else if (isObject(inner)) flatten(inner, below, place);
      else if (inner !== null) throw mismatch("object", place);
    }
  };
  flatten(value, field.path, at);
  const filters = leaves.map((leaf): Filter => {
    const expected = given.get(leaf.path) ?? null;
    if (expected === null) return { kind: "null", field: leaf, isNull: true };
    const place = `${at}/${leaf.path.slice(field.path.length + 1).replaceAll(".", "/")}`;
    const scalar = scalarAt(leaf, expected, place);
    return { kind: "compare", field: leaf, operator: "$eq", value: scalar };
  });
  const isThere: Filter = { kind: "null", field, isNull: false };
  const equal: Filter = { kind: "all", filters: [isThere, ...filters] };
  if (operator === "$eq") return equal;
  return { kind: "all", filters: [isThere, { kind: "not", filter: equal }] };
}

/** What a value has to be: of a type, and one of these where there are any. */
type Expected = Pick<FieldReference, "type" | "values">;

function scalarAt({ type, values }: Expected, value: unknown, at: string): Scalar {
  const scalar = canonicalScalar(type, value);
  if (scalar === undefined) throw mismatch(type, at);
  if (values !== undefined && !values.some((one) => one === scalar))
    throw fail("query_operator_type_mismatch", { path: at, type, values });
  return scalar;
}

function scalarsAt(expected: Expected, value: unknown, at: string): readonly Scalar[] {
  if (!Array.isArray(value)) throw invalid(at, "must be a list");
  if (value.length > limits.maxInOperands)
    throw fail("query_too_complex", { path: at, limit: limits.maxInOperands });
  return value.map((item, index) => scalarAt(expected, item, pointer(at, String(index))));
}

/** Every alternative but the first is a clause more. */
function countAlternatives(patterns: readonly unknown[], at: string, clauses: Clauses): void {
  for (const _further of patterns.slice(1)) clauses.count(at);
}

function flagAt(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw invalid(at, "must be true or false");
  return value;
}

/** One pattern, or a list of alternatives. */
function patternsAt(value: unknown, at: string): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length === 0) throw invalid(at, "must be a pattern, or a list of them");
  if (given.length > limits.maxAlternatives)
    throw fail("query_too_complex", { path: at, limit: limits.maxAlternatives });
  return given.map((pattern, index) => {
    const here = Array.isArray(value) ? pointer(at, String(index)) : at;
    if (typeof pattern !== "string") throw mismatch("string", here);
    if (codePointLength(pattern) > limits.maxPatternLength)
      throw fail("query_too_complex", { path: here, limit: limits.maxPatternLength });
    return pattern;
  });
}

function mismatch(type: FieldType, at: string): Error {
  return fail("query_operator_type_mismatch", { path: at, type });
}

function invalid(path: string, reason: string): Error {
  return fail("query_invalid", { path, reason });
}
