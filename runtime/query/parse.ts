// Filters and sorts as clients send them, read strictly: a mistake is an error, never a wider result
// (decisions.md "Query language"; equality only, the other operators are not offered yet).
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { everything, type Filter, type SortKey } from "./ast.js";
import { isScalar, type FieldReference, type FieldSet } from "./fields.js";
import { canonicalScalar, type Scalar } from "./scalar.js";

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A JSON Pointer (RFC 6901) with one more token. */
export function pointer(base: string, token: string): string {
  return `${base}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * Parses `{"$values": {field: literal | list | null}}`; `{}` and undefined mean every row.
 * Throws `query_invalid`, `field_not_queryable`, `query_operator_type_mismatch`, `query_too_complex`.
 */
export function parseFilter(value: unknown, fields: FieldSet, at: string): Filter {
  if (value === undefined) return everything;
  if (!isObject(value)) throw fail("query_invalid", { path: at, reason: "a filter is an object" });
  for (const key of Object.keys(value)) {
    if (key !== "$values")
      throw fail("query_invalid", { path: pointer(at, key), reason: "unknown key" });
  }
  const constraints = value["$values"];
  if (constraints === undefined) return everything;
  const path = pointer(at, "$values");
  if (!isObject(constraints)) throw fail("query_invalid", { path, reason: "must be an object" });
  const entries = Object.entries(constraints);
  if (entries.length > limits.maxClauses)
    throw fail("query_too_complex", { path, limit: limits.maxClauses });
  const filters = entries.map(([name, operand]) =>
    parseConstraint(fieldAt(name, fields, pointer(path, name)), operand, pointer(path, name)),
  );
  return { kind: "all", filters };
}

function fieldAt(name: string, fields: FieldSet, at: string): FieldReference {
  const field = fields.find(name);
  if (field === undefined) throw fail("field_not_queryable", { path: at });
  return field;
}

function parseConstraint(field: FieldReference, operand: unknown, at: string): Filter {
  if (operand === null) return { kind: "isNull", field };
  if (!isScalar(field.type))
    throw fail("query_operator_type_mismatch", { path: at, type: field.type });
  if (Array.isArray(operand)) {
    if (operand.length > limits.maxInOperands) {
      throw fail("query_too_complex", { path: at, limit: limits.maxInOperands });
    }
    const values = operand.map((item, index) => scalarAt(field, item, pointer(at, String(index))));
    return { kind: "in", field, values };
  }
  if (isObject(operand))
    throw fail("query_invalid", { path: at, reason: "operators are not offered here" });
  return { kind: "equals", field, value: scalarAt(field, operand, at) };
}

function scalarAt(field: FieldReference, value: unknown, at: string): Scalar {
  const scalar = canonicalScalar(field.type, value);
  if (scalar === undefined)
    throw fail("query_operator_type_mismatch", { path: at, type: field.type });
  return scalar;
}

/**
 * Parses `{field: "asc" | "desc" | {dir, nulls?}}`; the order of members is priority, and `id` is appended.
 * Nulls are the smallest value unless said otherwise.
 */
export function parseSorts(value: unknown, fields: FieldSet, at: string): readonly SortKey[] {
  if (value === undefined) return [ascending(fields.id)];
  if (!isObject(value)) throw fail("query_invalid", { path: at, reason: "sorts are an object" });
  const entries = Object.entries(value);
  if (entries.length > limits.maxSorts)
    throw fail("query_too_complex", { path: at, limit: limits.maxSorts });
  const keys = entries.map(([name, order]) => {
    const path = pointer(at, name);
    const field = fieldAt(name, fields, path);
    if (!isScalar(field.type))
      throw fail("query_operator_type_mismatch", { path, type: field.type });
    return parseOrder(field, order, path);
  });
  return keys.some((key) => key.field.path === "id") ? keys : [...keys, ascending(fields.id)];
}

function parseOrder(field: FieldReference, order: unknown, at: string): SortKey {
  if (order === "asc") return ascending(field);
  if (order === "desc") return { field, direction: "desc", nulls: "last" };
  if (!isObject(order))
    throw fail("query_invalid", { path: at, reason: "must be asc, desc or an object" });
  for (const key of Object.keys(order)) {
    if (key !== "dir" && key !== "nulls") {
      throw fail("query_invalid", { path: pointer(at, key), reason: "unknown key" });
    }
  }
  const { dir, nulls } = order;
  if (dir !== "asc" && dir !== "desc") {
    throw fail("query_invalid", { path: pointer(at, "dir"), reason: "must be asc or desc" });
  }
  if (nulls !== undefined && nulls !== "first" && nulls !== "last") {
    throw fail("query_invalid", { path: pointer(at, "nulls"), reason: "must be first or last" });
  }
  return { field, direction: dir, nulls: nulls ?? (dir === "asc" ? "first" : "last") };
}

function ascending(field: FieldReference): SortKey {
  return { field, direction: "asc", nulls: "first" };
}
