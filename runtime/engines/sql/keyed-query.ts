// Queries that find one row at most: by its id, or by what no two documents have the same of.
import type { DocumentQuery } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import type { Filter } from "../../query/ast.js";

/** Whether an index over a key bounds what the query costs. All that it asks is equality with fields of the row. */
export function isKeyed(
  { unique = [] }: DocumentDeclaration,
  { filter, sorts, withDeleted }: DocumentQuery,
): boolean {
  const fields = new Set<string>();
  for (const condition of conjunctsOf(filter)) {
    if (condition.kind !== "compare" || condition.operator !== "$eq") return false;
    fields.add(condition.field.path);
  }
  if (sorts.some(({ via }) => via !== undefined)) return false;
  if (fields.has("id")) return true;
  // The index of a rule may leave out what is deleted.
  return !withDeleted && unique.some(({ members }) => members.every((name) => fields.has(name)));
}

function conjunctsOf(filter: Filter): readonly Filter[] {
  return filter.kind === "all" ? filter.filters.flatMap(conjunctsOf) : [filter];
}
