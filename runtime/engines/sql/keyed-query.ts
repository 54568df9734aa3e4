// Recognizes queries that find at most one row: by its id, or by members whose values are unique.
import type { DocumentQuery } from "../../ports/documents.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { Filter } from "../../query/ast.js";

/**
 * Whether a unique index bounds the cost of the query: all its conditions are equalities with
 * fields of the row, and they include the id or all members of a unique rule.
 */
export function isKeyed(
  { unique = [] }: AnyDocumentSpec,
  { filter, sorts, withDeleted }: DocumentQuery,
): boolean {
  const fields = new Set<string>();
  for (const condition of conjunctsOf(filter)) {
    if (condition.kind !== "compare" || condition.operator !== "$eq") return false;
    fields.add(condition.field.path);
  }
  if (sorts.some(({ via }) => via !== undefined)) return false;
  if (fields.has("id")) return true;
  // The index of a unique rule may leave out deleted rows, and others.
  return (
    !withDeleted &&
    unique.some(
      ({ members, where }) => where === undefined && members.every((name) => fields.has(name)),
    )
  );
}

function conjunctsOf(filter: Filter): readonly Filter[] {
  return filter.kind === "all" ? filter.filters.flatMap(conjunctsOf) : [filter];
}
