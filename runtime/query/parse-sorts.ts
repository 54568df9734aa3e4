// Sorts as clients send them (decisions.md "Query language").
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { isScalarType } from "../contract/query-operators.js";
import type { SortKey } from "./ast.js";
import type { FieldReference, FieldSet } from "./fields.js";
import { isObject, pointer } from "../contract/json-pointer.js";

/**
 * Parses `{field: "asc" | "desc" | {dir, nulls?}}`; the order of members is priority, and `id` is
 * appended. Nulls are the smallest value unless said otherwise. `project.name` sorts by what the
 * member names.
 */
export function parseSorts(value: unknown, fields: FieldSet, at: string): readonly SortKey[] {
  if (value === undefined) return [sortAscending(fields.id)];
  if (!isObject(value)) throw fail("query_invalid", { path: at, reason: "sorts are an object" });
  const entries = Object.entries(value);
  if (entries.length > limits.maxSorts)
    throw fail("query_too_complex", { path: at, limit: limits.maxSorts });
  const keys = entries.map(([name, order]) => {
    const path = pointer(at, name);
    const own = fields.find(name);
    const through = own === undefined ? fields.through(name) : undefined;
    const field = own ?? through?.field;
    if (field === undefined) throw fail("field_not_queryable", { path });
    if (!isScalarType(field.type))
      throw fail("query_operator_type_mismatch", { path, type: field.type });
    const key = parseOrder(field, order, path);
    if (through === undefined) return key;
    const { field: member, rows } = through.to;
    return { ...key, via: { member, rows, visible: null } };
  });
  const isUnique = keys.some(({ field, via }) => field.path === "id" && via === undefined);
  return isUnique ? keys : [...keys, sortAscending(fields.id)];
}

/** The order of one field: `"asc"`, `"desc"`, or `{dir, nulls?}`. */
export function parseOrder(field: FieldReference, order: unknown, at: string): SortKey {
  if (order === "asc") return sortAscending(field);
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

function sortAscending(field: FieldReference): SortKey {
  return { field, direction: "asc", nulls: "first" };
}
