// How many rows there are, no further than is asked: what the first page of a list costs most.
import type { SqlParameters } from "./parameters.js";
import type { CountedPage } from "../../ports/pages.js";
import type { ScanColumns, SqlRow, SqlSession } from "./session.js";

/** Rows that are counted. */
export interface Counted {
  /** `FROM … WHERE …`. */
  readonly found: string;
  /** Queries that it names (`ScanColumns`). */
  readonly parts?: string;
  /** Where counting ends; all are counted where it is left out. */
  readonly upTo?: number | undefined;
  /**
   * ` ORDER BY …`, which has the engine take them from an index: otherwise it may read a table from
   * its beginning, whose first rows are somebody else's.
   */
  readonly orderBy?: string;
}

/** Rows of a page, which begins at an offset. */
export interface Paged {
  /** What is selected: the names of columns. */
  readonly columns: string;
  /** `FROM … WHERE … ORDER BY …`. */
  readonly found: string;
  readonly window: { readonly limit: number; readonly offset: number };
}

/** What runs its statements. */
export interface PageReading {
  /** Reads the rows with their columns, and with what the statement has besides. */
  read(text: string, more: ScanColumns): Promise<readonly SqlRow[]>;
  /** Only counts. */
  count(): Promise<number>;
}

/** What a counted page names; no table has these names. */
export const pageName = "opwright_page";
const countName = "opwright_count";
/** The column in which the last row of a full page has the count. */
const countColumn = "counted";

/**
 * The number of rows, whose values `parameters` has; where there are more than `upTo`, that, and no
 * more of them are read.
 */
export async function countRows(
  session: SqlSession,
  parameters: SqlParameters,
  counted: Counted,
): Promise<number> {
  const text = countStatement(parameters, counted);
  const { parts } = counted;
  const columns = { stored: ["count"], ...(parts === undefined ? {} : { parts }) };
  const [row] = await session.scan(text, parameters.values, columns);
  return Number(row?.["count"] ?? 0);
}

/**
 * The rows of a page, and their number as `count` would tell it, in one statement. A page that
 * isn't full says by itself how many there are, so only one that is makes the engine count, when it
 * comes to its last row. Only behind the last page, where there is no row, it is asked once more.
 */
export async function readCountedPage(
  parameters: SqlParameters,
  { columns, found, window }: Paged,
  counted: Counted,
  { read, count }: PageReading,
): Promise<CountedPage<SqlRow>> {
  const { limit, offset } = window;
  const size = parameters.add(limit);
  const page = `SELECT ${columns} ${found} LIMIT ${size} OFFSET ${parameters.add(offset)}`;
  const all = countStatement(parameters, counted);
  const last = `row_number() OVER () = ${size}`;
  const parts = [
    ...(counted.parts === undefined ? [] : [counted.parts]),
    `"${countName}" AS (${all})`,
    `"${pageName}" AS (${page})`,
  ].join(", ");
  const rows = await read(
    `SELECT ${columns}, CASE WHEN ${last} THEN (SELECT "count" FROM "${countName}") END AS "${countColumn}" FROM "${pageName}"`,
    { stored: [countColumn], parts },
  );
  if (rows.length === limit) return { rows, count: Number(rows.at(-1)?.[countColumn]) };
  // What was written since the rows were read must not contradict them.
  if (rows.length === 0 && offset > 0) return { rows, count: Math.min(offset, await count()) };
  const end = offset + rows.length;
  return { rows, count: Math.min(end, counted.upTo ?? end) };
}

function countStatement(
  parameters: SqlParameters,
  { found, upTo = Number.POSITIVE_INFINITY, orderBy = "" }: Counted,
): string {
  const counted = Number.isFinite(upTo)
    ? `FROM (SELECT 1 ${found}${orderBy} LIMIT ${parameters.add(upTo)}) AS "counted"`
    : found;
  return `SELECT count(*) AS "count" ${counted}`;
}
