// How many rows there are, no further than is asked: what the first page of a list costs most.
import type { SqlParameters } from "./parameters.js";
import type { SqlSession } from "./session.js";

/**
 * The number of rows of `FROM … WHERE …`, whose values `parameters` has; where there are more than
 * `upTo`, that, and no more of them are read. `orderBy` has the engine take them from an index:
 * otherwise it may read a table from its beginning, whose first rows are somebody else's.
 */
export async function countRows(
  session: SqlSession,
  found: string,
  parameters: SqlParameters,
  upTo = Number.POSITIVE_INFINITY,
  orderBy = "",
): Promise<number> {
  const counted = Number.isFinite(upTo)
    ? `FROM (SELECT 1 ${found}${orderBy} LIMIT ${parameters.add(upTo)}) AS "counted"`
    : found;
  const text = `SELECT count(*) AS "count" ${counted}`;
  const [row] = await session.scan(text, parameters.values, { stored: ["count"] });
  return Number(row?.["count"] ?? 0);
}
