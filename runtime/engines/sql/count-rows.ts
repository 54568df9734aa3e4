// How many rows there are, no further than is asked: what the first page of a list costs most.
import type { SqlParameters } from "./parameters.js";
import type { SqlSession } from "./session.js";

/** Rows that are counted. */
export interface Counted {
  /** `FROM … WHERE …`. */
  readonly found: string;
  /** Queries that it names (`ScanColumns`). */
  readonly parts?: string;
  /**
   * ` ORDER BY …`, which has the engine take them from an index: otherwise it may read a table from
   * its beginning, whose first rows are somebody else's.
   */
  readonly orderBy?: string;
}

/**
 * The number of rows, whose values `parameters` has; where there are more than `upTo`, that, and no
 * more of them are read.
 */
export async function countRows(
  session: SqlSession,
  parameters: SqlParameters,
  counted: Counted,
  upTo?: number,
): Promise<number> {
  const text = countStatement(parameters, counted, upTo);
  const { parts } = counted;
  const columns = { stored: ["count"], ...(parts === undefined ? {} : { parts }) };
  const [row] = await session.scan(text, parameters.values, columns);
  return Number(row?.["count"] ?? 0);
}

/** The statement that counts so far, without the queries that it names. */
export function countStatement(
  parameters: SqlParameters,
  { found, orderBy = "" }: Counted,
  upTo = Number.POSITIVE_INFINITY,
): string {
  const counted = Number.isFinite(upTo)
    ? `FROM (SELECT 1 ${found}${orderBy} LIMIT ${parameters.add(upTo)}) AS "counted"`
    : found;
  return `SELECT count(*) AS "count" ${counted}`;
}
