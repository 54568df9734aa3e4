// What a query reaches in other documents, and what of them is visible to who asks.
import { everything, type Filter, type SortKey } from "./ast.js";
import type { FieldReference } from "./fields.js";
import type { RelatedRows } from "./related-rows.js";

/** What rows of another type must pass to be seen by who asks about these members of theirs. */
export type Visibility = (rows: RelatedRows, members: ReadonlySet<string>) => Filter;

/** The other documents that filters and sorts reach, a name each. */
export function reachedBy(
  filters: readonly Filter[],
  sorts: readonly SortKey[] = [],
): ReadonlySet<string> {
  return new Set(membersReached(filters, sorts).keys());
}

/** The members of other documents that filters and sorts are about, by the documents' names. */
export function membersReached(
  filters: readonly Filter[],
  sorts: readonly SortKey[] = [],
): ReadonlyMap<string, ReadonlySet<string>> {
  const reached = new Map<string, Set<string>>();
  const add = ({ name }: RelatedRows, members: ReadonlySet<string>): void => {
    reached.set(name, new Set([...(reached.get(name) ?? []), ...members]));
  };
  const visit = (within: readonly Filter[]): void => {
    for (const leaf of leavesOf(within)) {
      if (leaf.kind !== "related") continue;
      add(leaf.rows, membersIn([leaf.filter], [], [leaf.theirs]));
      visit([leaf.filter]);
    }
  };
  visit(filters);
  for (const { field, via } of sorts)
    if (via !== undefined) add(via.rows, membersIn([], [], [field]));
  return reached;
}

type Leaf = Exclude<Filter, { readonly kind: "all" | "any" | "not" }>;

/** The conditions that filters are made of, however they are combined. */
function* leavesOf(filters: readonly Filter[]): Generator<Leaf> {
  for (const filter of filters) {
    if (filter.kind === "all" || filter.kind === "any") yield* leavesOf(filter.filters);
    else if (filter.kind === "not") yield* leavesOf([filter.filter]);
    else yield filter;
  }
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
      return {
        ...filter,
        filter: within(filter.filter, visible),
        visible: visible(filter.rows, membersIn([filter.filter], [], [filter.theirs])),
      };
    default:
      return filter;
  }
}

/** As `within`, of sorts. */
export function sortsWithin(sorts: readonly SortKey[], visible: Visibility): readonly SortKey[] {
  return sorts.map((key) => {
    if (key.via === undefined) return key;
    const asked = membersIn([], [], [key.field]);
    return { ...key, via: { ...key.via, visible: visible(key.via.rows, asked) } };
  });
}

/** The members of the rows themselves that a query is about. */
export function membersIn(
  filters: readonly Filter[],
  sorts: readonly SortKey[] = [],
  fields: readonly FieldReference[] = [],
): ReadonlySet<string> {
  const members = new Set<string>();
  const add = ({ path, isColumn }: FieldReference): void => {
    if (!isColumn) members.add(path.split(".", 1)[0] ?? path);
  };
  for (const leaf of leavesOf(filters)) {
    // What a quantifier asks is about elements of its field.
    add(leaf.kind === "related" ? leaf.ours : leaf.field);
    if (leaf.kind === "compareFields") add(leaf.other);
  }
  for (const { field, via } of sorts) add(via?.member ?? field);
  fields.forEach(add);
  return members;
}

/** Every row of other types: for filters of the service's own. */
export const allVisible: Visibility = () => everything;
