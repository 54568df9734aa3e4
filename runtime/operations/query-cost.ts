// What a query will cost at worst, estimated before it runs: clauses times rows that no index rules
// out (architecture.md "Work is bounded": cost). A unit is about a tenth of a microsecond of SQLite
// on one core.
import { fail } from "../contract/errors.js";
import type { QueryBudgets } from "./invocation-facts.js";
import type { Payer } from "../ports/work.js";
import type { Aggregate, AggregateFunction } from "../query/aggregate.js";
import type { Filter, SortKey } from "../query/ast.js";
import { idField, type FieldReference } from "../query/fields.js";

/** The table that a query reads. */
export interface Ground {
  /** About how many rows there are. */
  readonly rows: number;
  /** Fields of indexes, in their order; each index ends with the id. */
  readonly indexes: readonly (readonly string[])[];
  /** The same of another document that the query reaches. */
  readonly related?: (name: string) => Ground;
}

/** One expensive part of a query. */
interface Part {
  /** `name $like`, `sort by due`. */
  readonly what: string;
  readonly cost: number;
}

/** The cost of a query, and its parts. */
export type Cost = readonly Part[];

/** Guesses without statistics: an equality leaves one row in so many, a range one in so many. */
const selectivity = { equal: 50, range: 3 };
const extractCost = 4;
const sortCost = 6;

/** A page: the rows that are read for it, and for its count if it has one. */
export function pageCost(
  ground: Ground,
  query: { readonly filter: Filter; readonly sorts: readonly SortKey[] },
  page: { readonly offset: number; readonly size: number; readonly countUpTo: number },
): Cost {
  const { filter, sorts } = query;
  const { rows, indexes } = ground;
  const left = rows / boundBy(filter, indexes);
  const clauses = clausesOf(filter, ground);
  const isPlain = clauses.length === 0;
  const isServed = servesSorts(sorts, filter, indexes);
  const seen = isPlain && isServed ? Math.min(left, page.offset + page.size) : left;
  // Without conditions beside those of an index, counting ends at its bound.
  const counted = page.countUpTo === 0 ? 0 : isPlain ? Math.min(left, page.countUpTo) : left;
  const times = counted > 0 ? 2 : 1;
  return [
    { what: "rows", cost: seen },
    ...(counted > 0 ? [{ what: "count", cost: counted }] : []),
    ...clauses.map(over(left, times)),
    ...(isServed ? [] : [{ what: sortName(sorts), cost: sortCost * left }]),
  ];
}

const functionCosts: Readonly<Record<AggregateFunction, number>> = {
  $count: 1,
  $count_distinct: 12,
  $sum: 5,
  $avg: 5,
  $min: 5,
  $max: 5,
  $median: 30,
  $percentile: 30,
  $stddev_pop: 20,
  $stddev_samp: 20,
  $var_pop: 20,
  $var_samp: 20,
};

/** Groups and their computed values. The groups are built twice, because they are counted too. */
export function aggregateCost(ground: Ground, filter: Filter, given: Aggregate): Cost {
  const left = 2 * (ground.rows / boundBy(filter, ground.indexes));
  return [
    { what: "rows", cost: left },
    ...clausesOf(filter, ground).map(over(left)),
    ...given.groups.map(({ field, trunc }) => ({
      what: `group by ${field.path}`,
      cost: (trunc === null ? 8 : 24) * left,
    })),
    ...given.computed.flatMap(({ name, field, filter: only }) => [
      { what: `${name} of ${field?.path ?? "rows"}`, cost: functionCosts[name] * left },
      ...clausesOf(only, ground).map(over(left)),
    ]),
  ];
}

/** A guess at the share of rows that contain a word. */
const wordShare = 0.03;
const wordCost = 4;
/**
 * Of one word: reading the words of the index that are like it, and looking for the nearest among
 * the documents.
 */
const spellingCost = 200_000;

/** A search: the rows that its words may find, and the conditions on each of them. */
export function searchCost(
  ground: Ground,
  query: { readonly filter: Filter; readonly sorts: readonly SortKey[] },
  asked: {
    /** Null for a search without words. */
    readonly words: number | null;
    readonly fields: number;
    readonly isFuzzy: boolean;
    readonly facets: number;
    readonly isCounted: boolean;
    readonly offset: number;
    readonly size: number;
  },
): Cost {
  const { words, fields, isFuzzy, facets, isCounted } = asked;
  if (words === null) {
    const facetCost = { what: "facets", cost: facets * 2 * extractCost * ground.rows };
    const countUpTo = isCounted ? Infinity : 0;
    return [...pageCost(ground, query, { ...asked, countUpTo }), facetCost];
  }
  const found = ground.rows * Math.min(1, wordShare * words);
  const times = 1 + (isCounted ? 1 : 0) + facets;
  return [
    { what: "words", cost: found * words * fields * wordCost * times },
    ...clausesOf(query.filter, ground).map(over(found, times)),
    ...(isFuzzy ? [{ what: "spellings", cost: words * spellingCost }] : []),
  ];
}

/**
 * Throws `query_too_complex` if the cost exceeds the caller's budget. The service's own work has no
 * budget.
 */
export function checkCost(cost: Cost, budgets: QueryBudgets, payer: Payer | null): void {
  const budget = payer === null ? null : payer.isAnonymous ? budgets.anonymous : budgets.callers;
  if (budget === null) return;
  const whole = cost.reduce((sum, part) => sum + part.cost, 0);
  if (whole <= budget) return;
  const parts = new Map<string, number>();
  for (const part of cost) parts.set(part.what, (parts.get(part.what) ?? 0) + part.cost);
  const dear = [...parts]
    .sort(([, left], [, right]) => right - left)
    .slice(0, 3)
    .map(([what, part]) => ({ what, share: Math.round((100 * part) / whole) / 100 }));
  throw fail("query_too_complex", { cost: Math.round(whole), budget, dear });
}

/** Rows divided by this pass a condition on an index. */
function boundBy(filter: Filter, indexes: Ground["indexes"]): number {
  const conjuncts = conjunctsOf(filter);
  const equal = new Set(conjuncts.flatMap((one) => equalField(one) ?? []));
  const ranged = new Set(conjuncts.flatMap((one) => rangedField(one) ?? []));
  if (equal.has("id")) return Infinity;
  const bounds = indexes.map((fields) => {
    let bound = 1;
    for (const field of fields) {
      if (equal.has(field)) {
        bound *= selectivity.equal;
        continue;
      }
      return ranged.has(field) ? bound * selectivity.range : bound;
    }
    return bound;
  });
  return Math.max(1, ...bounds);
}

function conjunctsOf(filter: Filter): readonly Filter[] {
  return filter.kind === "all" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

function equalField(filter: Filter): string | null {
  if (filter.kind === "compare" && filter.operator === "$eq") return filter.field.path;
  // A list of several is several equalities; a long one bounds nothing.
  if (filter.kind === "in" && !filter.isNegated && filter.values.length <= 10)
    return filter.field.path;
  return null;
}

function rangedField(filter: Filter): string | null {
  return filter.kind === "compare" && /^\$[gl]te?$/.test(filter.operator)
    ? filter.field.path
    : null;
}

/**
 * Whether an index returns the rows in order: after fields that are equal, those of the sorts, all
 * in one direction.
 */
function servesSorts(
  sorts: readonly SortKey[],
  filter: Filter,
  indexes: Ground["indexes"],
): boolean {
  const equal = new Set(conjunctsOf(filter).flatMap((one) => equalField(one) ?? []));
  const wanted = sorts.map(({ field }) => field.path).filter((path) => !equal.has(path));
  const directions = new Set(sorts.map(({ direction }) => direction));
  if (directions.size > 1) return false;
  return [[], ...indexes].some((fields) => {
    const rest = [...fields.filter((field) => !equal.has(field)), "id"];
    return wanted.every((path, at) => path === rest[at]);
  });
}

function sortName(sorts: readonly SortKey[]): string {
  return `sort by ${sorts.map(({ field }) => field.path).join(", ")}`;
}

/** What one constraint costs for each row, and once for other rows. */
interface Clause extends Part {
  readonly once?: number;
}

/** The cost of a clause over so many rows. */
function over(rows: number, times = 1) {
  return ({ what, cost, once = 0 }: Clause): Part => ({ what, cost: (cost * rows + once) * times });
}

/** What each constraint costs per row. */
function clausesOf(filter: Filter, ground: Ground): readonly Clause[] {
  switch (filter.kind) {
    case "all":
    case "any":
      return filter.filters.flatMap((one) => clausesOf(one, ground));
    case "not":
      return clausesOf(filter.filter, ground);
    case "compare":
      return [{ what: `${filter.field.path} ${filter.operator}`, cost: read(filter.field) + 1 }];
    case "compareFields":
      return [
        {
          what: `${filter.field.path} ${filter.operator}`,
          cost: read(filter.field) + read(filter.other) + 1,
        },
      ];
    case "in": {
      const cost = read(filter.field) + 2 + Math.log2(1 + filter.values.length);
      return [{ what: `${filter.field.path} $in`, cost }];
    }
    case "null":
      return [{ what: `${filter.field.path} $null`, cost: read(filter.field) }];
    case "like": {
      const patterns = filter.patterns.map(
        (pattern) => read(filter.field) + 2 + pattern.length / 100 + pattern.split("%").length / 12,
      );
      return [{ what: `${filter.field.path} $like`, cost: sum(patterns) }];
    }
    case "matches": {
      const patterns = filter.patterns.map(
        ({ steps }) =>
          read(filter.field) +
          3 +
          steps.length / 50 +
          steps.filter(({ kind }) => kind === "rest").length / 2,
      );
      return [{ what: `${filter.field.path} $regex`, cost: sum(patterns) }];
    }
    case "hierarchy":
      return [{ what: `${filter.field.path} hierarchy`, cost: 3 * read(filter.field) + 4 }];
    case "empty":
      return [{ what: `${filter.field.path} $empty`, cost: 2 * read(filter.field) }];
    case "set": {
      const cost = 3 * read(filter.field) + 10 + filter.values.length;
      return [{ what: `${filter.field.path} ${filter.operator}`, cost }];
    }
    case "quantified": {
      const inner = sum(clausesOf(filter.filter, ground).map(({ cost }) => cost));
      const cost = 3 * read(filter.field) + 10 + 4 * inner;
      return [{ what: `${filter.field.path} ${filter.quantifier}`, cost }];
    }
    case "related":
      return [relatedClause(filter, ground)];
  }
}

/** Rows that name this one are looked for one by one; others are a list that is made once. */
function relatedClause(
  { ours, theirs, rows, filter }: Extract<Filter, { kind: "related" }>,
  ground: Ground,
): Clause {
  const others = groundOf(rows.name, ground);
  const asked = clausesOf(filter, others);
  const innerOver = (seen: number): number => sum(asked.map((one) => over(seen)(one).cost));
  const what = theirs.path === idField.path ? ours.path : `$exists ${rows.name}`;
  if (ours.path === idField.path) {
    const each = others.rows / Math.max(1, ground.rows);
    return { what, cost: 10 + each + innerOver(each) };
  }
  const left = others.rows / boundBy(filter, others.indexes);
  return { what, cost: read(ours) + 3, once: left + innerOver(left) };
}

function groundOf(name: string, { related }: Ground): Ground {
  if (related === undefined) throw new TypeError(`nothing is known of ${name}`);
  return related(name);
}

/** A column is read directly; a field must be found in the body. */
function read({ isColumn }: FieldReference): number {
  return isColumn ? 1 : extractCost;
}

function sum(values: readonly number[]): number {
  return values.reduce((whole, value) => whole + value, 0);
}
