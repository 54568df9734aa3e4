// Filters in a form that is as shallow as what they say: no combinator below its like, `not` above
// conditions alone.
import { idField } from "./fields.js";
import { everything, type Filter } from "./ast.js";

/** The filter that no row passes. */
const nothing: Filter = { kind: "any", filters: [] };

/**
 * The same filter without needless depth. `not` goes inward (De Morgan holds, since a condition
 * holds or does not), what passes every row or none is folded away, and the operand that takes a
 * parser most comes first: an engine's parser then keeps little in mind, however deep the filter
 * is. What is asked of a row that one member names is asked of it at once.
 */
export function normalFilter(filter: Filter): Filter {
  return normal(filter, false);
}

/** Whether it is the filter that every row passes, after normalization. */
export function isEverything(filter: Filter): boolean {
  return filter.kind === "all" && filter.filters.length === 0;
}

function normal(filter: Filter, isNegated: boolean): Filter {
  switch (filter.kind) {
    case "not":
      return normal(filter.filter, !isNegated);
    case "all":
    case "any": {
      const kind = (filter.kind === "all") === isNegated ? "any" : "all";
      return combineFilters(
        kind,
        filter.filters.map((inner) => normal(inner, isNegated)),
      );
    }
    case "null":
      return isNegated ? { ...filter, isNull: !filter.isNull } : filter;
    case "quantified": {
      const inner = { ...filter, filter: normal(filter.filter, false) };
      return isNegated ? { kind: "not", filter: inner } : inner;
    }
    default:
      return isNegated ? { kind: "not", filter } : filter;
  }
}

function combineFilters(kind: "all" | "any", filters: readonly Filter[]): Filter {
  const flat = filters.flatMap((inner) => (inner.kind === kind ? inner.filters : [inner]));
  const decides = kind === "all" ? "any" : "all";
  if (flat.some((inner) => inner.kind === decides && inner.filters.length === 0))
    return kind === "all" ? nothing : everything;
  const asked = ofOneRow(kind, flat);
  const [only] = asked;
  if (asked.length === 1 && only !== undefined) return only;
  return { kind, filters: asked.toSorted((left, right) => height(right) - height(left)) };
}

/**
 * A member names one row at most: what several conditions ask of that row is one condition, and
 * looked up once.
 */
function ofOneRow(kind: "all" | "any", filters: readonly Filter[]): readonly Filter[] {
  const asked: Filter[] = [];
  for (const filter of filters) {
    const at = isOfNamed(filter) ? asked.findIndex((one) => isOfRow(one, filter)) : -1;
    const known = asked[at];
    if (filter.kind === "related" && known?.kind === "related")
      asked[at] = { ...known, filter: { kind, filters: [known.filter, filter.filter] } };
    else asked.push(filter);
  }
  return asked;
}

type Related = Extract<Filter, { kind: "related" }>;

/** Whether it is about the row that a member names. */
function isOfNamed(filter: Filter): filter is Related {
  return filter.kind === "related" && filter.theirs === idField;
}

function isOfRow(one: Filter, { ours, visible }: Related): boolean {
  return isOfNamed(one) && one.ours.path === ours.path && one.visible === visible;
}

/**
 * How much of a statement a parser has open at a time: an operand that is not the first waits
 * behind two more signs.
 */
function height(filter: Filter): number {
  if (filter.kind !== "all" && filter.kind !== "any") return 1;
  const [first = 0, second = 0] = filter.filters.map(height);
  return 1 + Math.max(first, second + 2);
}
