// Reading the rows of a page in portions, within a budget of bytes, and the position at which a row
// stands.
import { valueAt } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import type { HeldAnswer } from "../../operations/answer-budget.js";
import type { Position, SortKey } from "../../query/ast.js";
import type { Scalar } from "../../query/scalar.js";
import type { StoredDocument, Window } from "../../ports/documents.js";

const firstPortion = 64;
const largestPortion = 4096;

/**
 * Up to `wanted` rows of a query, read in portions so that a page of large documents ends at
 * `maxPageBytes`. `isCut` tells that there is more, which the budget has left out; one row is
 * always returned where there is one.
 */
export async function readRows<Row extends StoredDocument>(
  select: (window: Window) => Promise<readonly Row[]>,
  sorts: readonly SortKey[],
  start: { readonly offset: number; readonly after: Position | undefined },
  wanted: number,
  answer: Pick<HeldAnswer, "grow">,
): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean }> {
  const rows: Row[] = [];
  let { offset, after } = start;
  let bytes = 0;
  let portion = firstPortion;
  while (rows.length < wanted) {
    const limit = Math.min(portion, wanted - rows.length);
    const found = await select({ limit, offset, after });
    for (const row of found) {
      bytes += row.body.length;
      if (bytes > limits.maxPageBytes && rows.length > 0) return { rows, isCut: true };
      rows.push(row);
    }
    answer.grow(bytes);
    const last = found.at(-1);
    if (found.length < limit || last === undefined) break;
    offset = 0;
    after = positionOf(last, sorts);
    const withinBudget = Math.ceil((limits.maxPageBytes * rows.length) / Math.max(bytes, 1));
    portion = Math.min(portion * 4, largestPortion, withinBudget);
  }
  return { rows, isCut: false };
}

/** The sort values of a row, in the order of the keys. */
export function positionOf(
  row: StoredDocument | (StoredDocument & { readonly score: number }),
  sorts: readonly SortKey[],
): Position {
  const columns: Readonly<Record<string, Scalar>> = {
    id: row.id,
    rev: row.rev,
    created_at: row.createdAt,
    last_update_at: row.lastUpdateAt,
    is_deleted: row.isDeleted,
    ...("score" in row ? { score: row.score } : {}),
  };
  const isOfBody = ({ field, via }: SortKey): boolean => !field.isColumn && via === undefined;
  const body: unknown = sorts.some(isOfBody) ? JSON.parse(row.body) : {};
  return sorts.map(({ field, via }, at) =>
    via !== undefined
      ? (row.joined?.[at] ?? null)
      : field.isColumn
        ? (columns[field.path] ?? null)
        : ((valueAt(body, field.path.split(".")) as Scalar | undefined) ?? null),
  );
}
