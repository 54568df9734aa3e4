// The rows of a query: those of a window, and a page with how many there are.
import type { PageWindow } from "../../ports/documents.js";
import type { CountedPage } from "../../ports/pages.js";
import { countStatement, type Counted } from "./count-rows.js";
import type { SqlParameters } from "./parameters.js";
import type { ScanColumns, SqlRow } from "./session.js";

/** A query as it is printed, and what reads its rows. It serves one statement. */
export interface Listing<Row> {
  /** The names of the columns that it selects. */
  readonly columns: string;
  /** `FROM … WHERE … ORDER BY …`. */
  readonly found: string;
  /** The same rows as they are counted. */
  readonly counted: Counted;
  readonly parameters: SqlParameters;
  /** Runs a statement that selects the columns, and may have more. */
  run(text: string, more?: ScanColumns): Promise<readonly SqlRow[]>;
  readRow(row: SqlRow): Row;
  /** Counts the rows by a statement of its own, no further than `upTo`. */
  count(upTo?: number): Promise<number>;
}

/** What a counted page names; no table has these names. */
const pageName = "opwright_page";
const countName = "opwright_count";
/** The column in which the last row of a full page has the count. */
const countColumn = "counted";

/** The rows of a window, in order. */
export async function selectListed<Row>(
  listing: Listing<Row>,
  window: PageWindow,
): Promise<readonly Row[]> {
  const { page } = printPage(listing, window);
  return (await listing.run(page)).map(listing.readRow);
}

/**
 * The rows of a page, in order, and how many there are, counted no further than `upTo`, in one
 * statement. A page that isn't full says by itself how many there are, so only one that is makes
 * the engine count, when it comes to its last row. Only behind the last page, where there is no
 * row, it is asked once more.
 */
export async function readCountedPage<Row>(
  listing: Listing<Row>,
  window: PageWindow,
  upTo?: number,
): Promise<CountedPage<Row>> {
  const { columns, counted, parameters } = listing;
  const { limit, offset } = window;
  const { page, size } = printPage(listing, window);
  const all = countStatement(parameters, counted, upTo);
  const parts = [
    ...(counted.parts === undefined ? [] : [counted.parts]),
    `"${countName}" AS (${all})`,
    `"${pageName}" AS (${page})`,
  ].join(", ");
  const last = `row_number() OVER () = ${size}`;
  const found = await listing.run(
    `SELECT ${columns}, CASE WHEN ${last} THEN (SELECT "count" FROM "${countName}") END AS "${countColumn}" FROM "${pageName}"`,
    { stored: [countColumn], parts },
  );
  const rows = found.map(listing.readRow);
  if (rows.length === limit) return { rows, count: Number(found.at(-1)?.[countColumn]) };
  // What was written since the rows were read must not contradict them.
  if (rows.length === 0 && offset > 0)
    return { rows, count: Math.min(offset, await listing.count(upTo)) };
  const end = offset + rows.length;
  return { rows, count: Math.min(end, upTo ?? end) };
}

/** A window as a statement, and the parameter that has its size. */
function printPage<Row>(
  { columns, found, parameters }: Listing<Row>,
  { limit, offset }: PageWindow,
): { readonly page: string; readonly size: string } {
  const size = parameters.add(limit);
  const page = `SELECT ${columns} ${found} LIMIT ${size} OFFSET ${parameters.add(offset)}`;
  return { page, size };
}
