// Reading the rows of a page in portions, within a budget of bytes, and the position at which a row stands.
import { limits } from "../contract/limits.js";
import type { ExecutionContext } from "../operations/context.js";
import type { Position, SortKey } from "../query/ast.js";
import type { Scalar } from "../query/scalar.js";
import { valueAt } from "./changes.js";
import type { DocumentQuery, StoredDocument } from "./port.js";
import type { DocumentDeclaration } from "./spec.js";

const firstPortion = 64;
const largestPortion = 4096;

/**
 * Up to `wanted` rows of a query, read in portions so that a page of large documents ends at `maxPageBytes`.
 * `isCut` tells that there is more, which the budget has left out; one row is always returned where there is one.
 */
export async function readRows(
  spec: DocumentDeclaration,
  context: ExecutionContext,
  query: DocumentQuery,
  start: { readonly offset: number; readonly after: Position | undefined },
  wanted: number,
): Promise<{ readonly rows: readonly StoredDocument[]; readonly isCut: boolean }> {
  const store = context.transaction.documents;
  const rows: StoredDocument[] = [];
  let { offset, after } = start;
  let bytes = 0;
  let portion = firstPortion;
  while (rows.length < wanted) {
    const limit = Math.min(portion, wanted - rows.length);
    const found = await store.select(spec, context.tenant, query, { limit, offset, after });
    for (const row of found) {
      bytes += row.body.length;
      if (bytes > limits.maxPageBytes && rows.length > 0) return { rows, isCut: true };
      rows.push(row);
    }
    const last = found.at(-1);
    if (found.length < limit || last === undefined) break;
    offset = 0;
    after = positionOf(last, query.sorts);
    const withinBudget = Math.ceil((limits.maxPageBytes * rows.length) / Math.max(bytes, 1));
    portion = Math.min(portion * 4, largestPortion, withinBudget);
  }
  return { rows, isCut: false };
}

/** The sort values of a row, in the order of the keys. */
export function positionOf(row: StoredDocument, sorts: readonly SortKey[]): Position {
  const columns: Readonly<Record<string, Scalar>> = {
    id: row.id,
    rev: row.rev,
    created_at: row.createdAt,
    last_update_at: row.lastUpdateAt,
    is_deleted: row.isDeleted,
  };
  const body: unknown = sorts.every((key) => key.field.isColumn) ? {} : JSON.parse(row.body);
  return sorts.map(({ field }) =>
    field.isColumn
      ? (columns[field.path] ?? null)
      : ((valueAt(body, field.path.split(".")) as Scalar | undefined) ?? null),
  );
}
