// Filters as clients send them, read strictly: a mistake is an error, never a wider result
// (decisions.md "Query language").
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { fieldOperators, isScalarType, operators } from "../contract/query-operators.js";
import { allOf, everything, type Filter } from "./ast.js";
import { idField, type FieldReference, type FieldSet, type Relation } from "./fields.js";
import { isObject, pointer } from "../contract/json-pointer.js";
import { parseConstraint, type Clauses } from "./parse-constraint.js";

/**
 * Parses a filter: constraints (`$values`, `$fields`, `$exists`), or one of `$and`, `$or`, `$not`.
 * `{}` and undefined are every row. Throws `query_invalid`, `field_not_queryable`,
 * `query_operator_type_mismatch`, `query_too_complex`; each names the JSON Pointer of its fault.
 */
export function parseFilter(
  value: unknown,
  fields: FieldSet,
  at: string,
  effort: FilterEffort = { clauses: 0, nodes: 0 },
): Filter {
  if (value === undefined) return everything;
  return new FilterParser(fields, effort).node(value, at, 1);
}

/** What has been counted so far: filters of one request may share it. */
export interface FilterEffort {
  clauses: number;
  nodes: number;
}

class FilterParser implements Clauses {
  readonly #fields: FieldSet;
  readonly #effort: FilterEffort;

  constructor(fields: FieldSet, effort: FilterEffort) {
    this.#fields = fields;
    this.#effort = effort;
  }

  count(at: string): void {
    this.#effort.clauses += 1;
    if (this.#effort.clauses > limits.maxClauses)
      throw fail("query_too_complex", { path: at, limit: limits.maxClauses });
  }

  below(path: string): readonly FieldReference[] {
    return this.#fields.below(path);
  }

  member(array: string, path: string): FieldReference | undefined {
    return this.#fields.member(array, path);
  }

  node(value: unknown, at: string, depth: number): Filter {
    checkDepth(depth, at);
    this.#effort.nodes += 1;
    if (this.#effort.nodes > limits.maxFilterNodes)
      throw fail("query_too_complex", { path: at, limit: limits.maxFilterNodes });
    if (!isObject(value)) throw invalid(at, "a filter is an object");
    const keys = Object.keys(value);
    const combinator = keys.find((key) => key === "$and" || key === "$or" || key === "$not");
    if (combinator === undefined) return this.#constraints(value, at, depth);
    const other = keys.find((key) => key !== combinator);
    if (other !== undefined) throw invalid(pointer(at, other), `cannot stand beside ${combinator}`);
    const inner = pointer(at, combinator);
    if (combinator === "$not")
      return { kind: "not", filter: this.node(value["$not"], inner, depth + 1) };
    const nodes = value[combinator];
    if (!Array.isArray(nodes) || nodes.length === 0)
      throw invalid(inner, "must be a list of at least one filter");
    return {
      kind: combinator === "$and" ? "all" : "any",
      filters: nodes.map((node, index) =>
        this.node(node, pointer(inner, String(index)), depth + 1),
      ),
    };
  }

  #constraints(value: Readonly<Record<string, unknown>>, at: string, depth: number): Filter {
    const filters: Filter[] = [];
    for (const [key, constraints] of Object.entries(value)) {
      const path = pointer(at, key);
      if (key !== "$values" && key !== "$fields" && key !== "$exists")
        throw invalid(path, "unknown key");
      if (!isObject(constraints)) throw invalid(path, "must be an object");
      for (const [name, operand] of Object.entries(constraints)) {
        const here = pointer(path, name);
        if (key === "$values") filters.push(...this.#values(name, operand, here, depth));
        else if (key === "$fields")
          filters.push(...this.#comparisons(this.#fieldAt(name, here), operand, here));
        else filters.push(this.#naming(name, operand, here, depth));
      }
    }
    if (filters.length === 0) return everything;
    return { kind: "all", filters };
  }

  #values(name: string, operand: unknown, at: string, depth: number): readonly Filter[] {
    const field = this.#fields.find(name);
    if (field !== undefined) return parseConstraint(field, operand, at, this);
    const through = this.#fields.through(name);
    if (through === undefined) throw fail("field_not_queryable", { path: at });
    checkDepth(depth + limits.relatedDepth, at);
    const { to } = through;
    const filters = parseConstraint(through.field, operand, at, this.#of(to));
    return filters.map((filter) => filterReferred(to, filter));
  }

  /** One that names this document, or what a member of it names, is there and passes. */
  #naming(name: string, value: unknown, at: string, depth: number): Filter {
    this.count(at);
    const own = this.#fields.naming(name);
    const through = own === undefined ? this.#fields.namingThrough(name) : undefined;
    const from = own ?? through?.from;
    if (from === undefined) throw fail("field_not_queryable", { path: at });
    const filter = this.#of(from).node(value, at, depth + limits.relatedDepth);
    if (through === undefined) return filterReferrers(from, this.#fields.id, filter);
    checkDepth(depth + 2 * limits.relatedDepth, at);
    const isThere = filterReferred({ ...through.to, field: from.field }, everything);
    return filterReferrers(from, through.to.field, allOf(isThere, filter));
  }

  /** What reads constraints on related documents. */
  #of({ fields }: Relation): FilterParser {
    return new FilterParser(fields, this.#effort);
  }

  #fieldAt(name: string, at: string): FieldReference {
    const field = this.#fields.find(name);
    if (field === undefined) throw fail("field_not_queryable", { path: at });
    return field;
  }

  /** `{op: other field}`: equality and order of two fields that compare. */
  #comparisons(field: FieldReference, value: unknown, at: string): readonly Filter[] {
    if (!isObject(value) || Object.keys(value).length === 0)
      throw invalid(at, "must be an object of operators");
    return Object.entries(value).map(([operator, name]): Filter => {
      const here = pointer(at, operator);
      this.count(here);
      if (!fieldOperators.includes(operator as never))
        throw invalid(
          here,
          operators.includes(operator as never) ? "compares no two fields" : "unknown operator",
        );
      if (typeof name !== "string") throw invalid(here, "must be the name of a field");
      const other = this.#fieldAt(name, here);
      const isOrder = operator !== "$eq" && operator !== "$neq";
      if (!comparesWith(field, other) || (isOrder && !hasOrder(field)))
        throw fail("query_operator_type_mismatch", {
          path: here,
          operator,
          type: field.type,
          other: other.type,
        });
      // The list of field operators has just told that it is one.
      return { kind: "compareFields", field, operator: operator as "$eq", other };
    });
  }
}

function checkDepth(depth: number, at: string): void {
  if (depth > limits.maxFilterDepth)
    throw fail("query_too_complex", { path: at, limit: limits.maxFilterDepth });
}

/** A condition on what a member names; where it names nothing visible, all of that is null. */
function filterReferred(to: Relation, filter: Filter): Filter {
  if (filter.kind === "null" && filter.isNull)
    return { kind: "not", filter: filterReferred(to, { ...filter, isNull: false }) };
  const { field: ours, rows } = to;
  return { kind: "related", ours, theirs: idField, rows, visible: null, filter };
}

/** A condition on those that name what is `ours`. */
function filterReferrers(
  { field: theirs, rows }: Relation,
  ours: FieldReference,
  filter: Filter,
): Filter {
  return { kind: "related", ours, theirs, rows, visible: null, filter };
}

/** Whether values of the two fields compare: of one type, or both numbers, or both texts. */
function comparesWith(left: FieldReference, right: FieldReference): boolean {
  const family = ({ type }: FieldReference): string =>
    type === "integer" ? "number" : type === "enum" ? "string" : type;
  return isScalarType(left.type) && family(left) === family(right);
}

function hasOrder({ type }: FieldReference): boolean {
  return type !== "string" && type !== "boolean";
}

function invalid(path: string, reason: string): Error {
  return fail("query_invalid", { path, reason });
}
