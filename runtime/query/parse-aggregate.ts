// Bodies of `agg_list`, read strictly (decisions.md "Query language": aggregates).
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { isScalarType, operatorsOf } from "../contract/query-operators.js";
import {
  aggregateFunctions,
  computedType,
  groupType,
  truncUnits,
  type Aggregate,
  type AggregateFunction,
  type Computed,
  type Group,
} from "./aggregate.js";
import { everything, type Filter, type SortKey } from "./ast.js";
import type { FieldReference, FieldSet } from "./fields.js";
import { isObject, pointer } from "../contract/json-pointer.js";
import {
  membersOf,
  readListQuery,
  readPaging,
  type ListRules,
  type PageRequest,
} from "./list-request.js";
import { parseConstraint } from "./parse-constraint.js";
import { parseFilter, type FilterEffort } from "./parse-filter.js";
import { parseOrder } from "./parse-sorts.js";
import { knownZone } from "./zones.js";

export interface AggregateRequest extends PageRequest {
  readonly aggregate: Aggregate;
}

/** Columns of an answer at most, of either kind. */
const maxColumns = 16;

/** Reads `{page?, size?, aggregates, filters?, sorts?, with_deleted?}`; sorts name aliases. */
export function parseAggregateRequest(
  body: unknown,
  { fields, mayListDeleted }: Omit<ListRules, "isRaw">,
): AggregateRequest {
  const members = membersOf(body, "", [
    "page",
    "size",
    "aggregates",
    "filters",
    "sorts",
    ...(mayListDeleted ? ["with_deleted"] : []),
  ]);
  const { sorts, ...rest } = members;
  const list = readListQuery(rest, { fields, mayListDeleted, isRaw: false });
  const aggregate = parseAggregate(members["aggregates"], sorts, fields);
  return { ...list, page: readPaging(members, "page"), aggregate };
}

function parseAggregate(value: unknown, sorts: unknown, fields: FieldSet): Aggregate {
  const at = "/aggregates";
  const given = membersOf(value, at, ["$groups", "$computed", "$having"]);
  const columns = new Map<string, FieldReference>();
  const effort: FilterEffort = { clauses: 0, nodes: 0 };
  const groups = readAliases(given["$groups"], `${at}/$groups`, columns).map(
    ([alias, spec, here], index) => {
      const group = parseGroup(alias, spec, fields, here);
      columns.set(alias, column(`g${index}`, groupType(group), group.field));
      return group;
    },
  );
  const computed = readAliases(given["$computed"], `${at}/$computed`, columns).map(
    ([alias, spec, here], index) => {
      const one = parseComputed(alias, spec, fields, here, effort);
      columns.set(alias, column(`c${index}`, computedType(one), one.field));
      return one;
    },
  );
  if (groups.length + computed.length === 0) throw invalid(at, "must group or compute something");
  return {
    groups,
    computed,
    having: parseHaving(given["$having"], columns, `${at}/$having`),
    sorts: parseAliasSorts(sorts, groups, columns),
  };
}

/** What is answered under an alias; one that is of the type of an enumeration has its values. */
function column(
  path: string,
  type: FieldReference["type"],
  of: FieldReference | null,
): FieldReference {
  const values = of?.type === type ? of.values : undefined;
  const usual = { path, type, isColumn: true, isNullable: true };
  return values === undefined ? usual : { ...usual, values };
}

/** Entries of a map of aliases, none of them twice. */
function readAliases(
  value: unknown,
  at: string,
  taken: ReadonlyMap<string, unknown>,
): readonly (readonly [string, unknown, string])[] {
  if (value === undefined) return [];
  if (!isObject(value)) throw invalid(at, "must be an object");
  const entries = Object.entries(value);
  if (entries.length > maxColumns) throw fail("query_too_complex", { path: at, limit: maxColumns });
  return entries.map(([alias, spec]) => {
    const here = pointer(at, alias);
    if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(alias))
      throw invalid(here, "an alias is a letter, then letters, digits and _");
    if (taken.has(alias)) throw invalid(here, "this alias is taken");
    return [alias, spec, here];
  });
}

function parseGroup(alias: string, spec: unknown, fields: FieldSet, at: string): Group {
  if (typeof spec === "string") {
    const field = fieldAt(spec, fields, at);
    if (!isScalarType(field.type)) throw mismatch(field, at);
    return { alias, field, trunc: null };
  }
  const inner = pointer(at, "$trunc");
  const {
    field: name,
    unit,
    timezone = "UTC",
  } = membersOf(membersOf(spec, at, ["$trunc"])["$trunc"], inner, ["field", "unit", "timezone"]);
  const field = fieldAt(name, fields, pointer(inner, "field"));
  if (field.type !== "date-time" && field.type !== "date")
    throw mismatch(field, pointer(inner, "field"));
  const found = truncUnits.find((one) => one === unit);
  if (found === undefined)
    throw invalid(pointer(inner, "unit"), `must be one of ${truncUnits.join(", ")}`);
  if (typeof timezone !== "string" || !isZone(timezone))
    throw invalid(pointer(inner, "timezone"), "is UTC, or a time zone such as Europe/Berlin");
  return { alias, field, trunc: { unit: found, timezone } };
}

/**
 * Whether this names a zone of the IANA database. It goes to the engine as it is written: the names
 * that Node.js has for zones may be older than the engine's. Offsets and abbreviations are none:
 * engines read their sign, and which zone they mean, either way.
 */
function isZone(name: string): boolean {
  if (name !== "UTC" && !/^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+$/.test(name)) return false;
  return knownZone(name) !== null;
}

/**
 * `{"$sum": "estimate"}`, or `{"$sum": {field, filter?}}`; `$count` takes no field, `$percentile` a
 * fraction `p`.
 */
function parseComputed(
  alias: string,
  spec: unknown,
  fields: FieldSet,
  at: string,
  effort: FilterEffort,
): Computed {
  if (!isObject(spec)) throw invalid(at, "must be an object of one function");
  const [entry, ...others] = Object.entries(spec);
  if (entry === undefined || others.length > 0) throw invalid(at, "must name one function");
  const [given, operand] = entry;
  const name = aggregateFunctions.find((one) => one === given);
  const inner = pointer(at, given);
  if (name === undefined) throw invalid(inner, "unknown function");
  const isCount = name === "$count";
  const asked =
    typeof operand === "string" && !isCount
      ? { field: operand }
      : membersOf(operand, inner, [
          "filter",
          ...(isCount ? [] : ["field"]),
          ...(name === "$percentile" ? ["p"] : []),
        ]);
  const { filter, field: named, p } = asked as Readonly<Record<string, unknown>>;
  const field = isCount ? null : fieldAt(named, fields, pointer(inner, "field"));
  if (field !== null && !takes(name, field)) throw mismatch(field, inner);
  if (name === "$percentile" && (typeof p !== "number" || p < 0 || p > 1))
    throw invalid(pointer(inner, "p"), "must be a number from 0 to 1");
  return {
    alias,
    name,
    field,
    fraction: typeof p === "number" ? p : 0.5,
    filter: parseFilter(filter, fields, pointer(inner, "filter"), effort),
  };
}

/** Whether a function can be computed of a field. */
function takes(name: AggregateFunction, { type }: FieldReference): boolean {
  if (name === "$count_distinct") return isScalarType(type);
  if (name === "$min" || name === "$max") return operatorsOf(type).includes("$gt");
  return type === "number" || type === "integer";
}

function parseHaving(
  value: unknown,
  columns: ReadonlyMap<string, FieldReference>,
  at: string,
): Filter {
  if (value === undefined) return everything;
  if (!isObject(value)) throw invalid(at, "must be an object");
  let clauses = 0;
  const counting = {
    below: () => [],
    member: () => undefined,
    count(here: string) {
      clauses += 1;
      if (clauses > limits.maxClauses)
        throw fail("query_too_complex", { path: here, limit: limits.maxClauses });
    },
  };
  const filters = Object.entries(value).flatMap(([alias, operand]) => {
    const here = pointer(at, alias);
    const field = columns.get(alias);
    if (field === undefined) throw fail("field_not_queryable", { path: here });
    return parseConstraint(field, operand, here, counting);
  });
  return { kind: "all", filters };
}

/** The sorts by aliases, and all groups behind them, so that the order is whole. */
function parseAliasSorts(
  value: unknown,
  groups: readonly Group[],
  columns: ReadonlyMap<string, FieldReference>,
): readonly SortKey[] {
  if (value !== undefined && !isObject(value)) throw invalid("/sorts", "sorts are an object");
  const entries = Object.entries(value ?? {});
  if (entries.length > limits.maxSorts)
    throw fail("query_too_complex", { path: "/sorts", limit: limits.maxSorts });
  const keys = entries.map(([alias, order]) => {
    const at = pointer("/sorts", alias);
    const field = columns.get(alias);
    if (field === undefined) throw fail("field_not_queryable", { path: at });
    return parseOrder(field, order, at);
  });
  const rest = groups
    .flatMap(({ alias }) => columns.get(alias) ?? [])
    .filter((field) => keys.every((key) => key.field.path !== field.path))
    .map((field): SortKey => ({ field, direction: "asc", nulls: "first" }));
  return [...keys, ...rest];
}

function fieldAt(name: unknown, fields: FieldSet, at: string): FieldReference {
  const field = typeof name === "string" ? fields.find(name) : undefined;
  if (field === undefined) throw fail("field_not_queryable", { path: at });
  return field;
}

function mismatch({ type }: FieldReference, path: string): Error {
  return fail("query_operator_type_mismatch", { path, type });
}

function invalid(path: string, reason: string): Error {
  return fail("query_invalid", { path, reason });
}
