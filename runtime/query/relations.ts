// What a query reaches in other documents, and what of them is visible to who asks.
import { everything, type Filter, type SortKey } from "./ast.js";
import type { RelatedRows } from "./related-rows.js";

/** What rows of another type must pass to be seen. */
export type Visibility = (rows: RelatedRows) => Filter;

/** The other documents that filters and sorts reach, a name each. */
export function reachedBy(
  filters: readonly Filter[],
  sorts: readonly SortKey[] = [],
): ReadonlySet<string> {
  const names = new Set(sorts.flatMap(({ via }) => (via === undefined ? [] : [via.rows.name])));
  const visit = (filter: Filter): void => {
    switch (filter.kind) {
      case "all":
      case "any":
        filter.filters.forEach(visit);
        break;
      case "not":
        visit(filter.filter);
        break;
      case "related":
        names.add(filter.rows.name);
        visit(filter.filter);
        break;
      default:
    }
  };
  filters.forEach(visit);
  return names;
}

/** The filter with what is said of rows of other types; it has none of them before. */
export function within(filter: Filter, visible: Visibility): Filter {
  switch (filter.kind) {
    case "all":
    case "any":
      return { ...filter, filters: filter.filters.map((one) => within(one, visible)) };
    case "not":
      return { ...filter, filter: within(filter.filter, visible) };
    case "related":
      return { ...filter, filter: within(filter.filter, visible), visible: visible(filter.rows) };
    default:
      return filter;
  }
}

/** As `within`, of sorts. */
export function sortsWithin(sorts: readonly SortKey[], visible: Visibility): readonly SortKey[] {
  return sorts.map((key) =>
    key.via === undefined ? key : { ...key, via: { ...key.via, visible: visible(key.via.rows) } },
  );
}

/** Every row of other types: for filters of the service's own. */
export const allVisible: Visibility = () => everything;
