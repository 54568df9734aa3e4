// What a search finds: the rows, how many there are, and both at once.
import type { PageWindow, Window } from "../../ports/documents.js";
import type { CountedPage } from "../../ports/pages.js";
import type { ScoredDocument, SearchQuery } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import type { Position } from "../../query/ast.js";
import { countRows, readCountedPage } from "./count-rows.js";
import type { Dialect } from "./dialect/dialect.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import { afterCondition, orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, type ScanColumns, type SqlRow, type SqlSession } from "./session.js";
import { sortedRows } from "./sorted-rows.js";

/**
 * The query for the documents that match, with their scores; only the best `maxCandidates`, if that
 * is given.
 */
export function printMatches(
  dialect: Dialect,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  parameters: SqlParameters,
): string {
  const { document } = spec;
  const { match, weights, maxCandidates } = query;
  const from =
    match === null
      ? quoteName(document.table)
      : dialect.matching(spec, tenant, match, weights, parameters);
  const where = whereOf(document, tenant, query, dialect, parameters);
  const score = match === null ? "0" : `s."score"`;
  const all = `SELECT ${dialect.columns}, ${score} AS "score" FROM ${from}${where}`;
  if (maxCandidates === null) return all;
  return `${all} ORDER BY "score" DESC, "id" LIMIT ${parameters.add(maxCandidates)}`;
}

/** A search as it is printed, and what reads its rows. */
interface MatchListing {
  readonly columns: string;
  /** `FROM …` of the matches alone. */
  readonly matches: string;
  /** What is joined with them, where they go on, and their order. */
  readonly order: string;
  readonly parameters: SqlParameters;
  /** Runs the statement, which selects these columns, and may have more. */
  run(text: string, more?: ScanColumns): Promise<readonly SqlRow[]>;
  readRow(row: SqlRow): ScoredDocument;
}

/** Prints a search, whose rows follow a position if one is given. */
function listingOf(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  after?: Position,
): MatchListing {
  const { dialect } = session;
  const { document } = spec;
  const parameters = new SqlParameters(dialect);
  const inner = printMatches(dialect, spec, tenant, query, parameters);
  const sorted = sortedRows(document, tenant, query.sorts, dialect, parameters);
  const { sorts, joins, columns: joined, withJoined } = sorted;
  const beyond =
    after === undefined ? "" : ` WHERE ${afterCondition(sorts, after, dialect, parameters)}`;
  return {
    columns: [dialect.columns, `"score"`, ...joined.map(quoteName)].join(", "),
    matches: `FROM (${inner}) AS m`,
    order: `${joins}${beyond} ${orderBy(sorts, dialect)}`,
    parameters,
    run: (text, more = { stored: [] }) =>
      session.scan(text, parameters.values, {
        ...more,
        stored: [...documentColumns.stored, ...more.stored],
        computed: ["score", ...joined],
      }),
    readRow: (row) =>
      withJoined({ ...readStored(document, row), score: Number(row["score"]) }, row),
  };
}

/** The matches of a window, in order. */
export async function selectMatches(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  { limit, offset, after }: Window,
): Promise<readonly ScoredDocument[]> {
  const listing = listingOf(session, spec, tenant, query, after);
  const { columns, matches, order, parameters } = listing;
  const window = `LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  const rows = await listing.run(`SELECT ${columns} ${matches}${order} ${window}`);
  return rows.map(listing.readRow);
}

/** The matches of a page, in order, and how many there are. */
export async function readMatchesPage(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  window: PageWindow,
): Promise<CountedPage<ScoredDocument>> {
  const listing = listingOf(session, spec, tenant, query);
  const { columns, matches, order, parameters } = listing;
  const { rows, count } = await readCountedPage(
    parameters,
    { columns, found: `${matches}${order}`, window },
    { found: matches },
    { read: listing.run, count: () => countMatches(session, spec, tenant, query) },
  );
  return { rows: rows.map(listing.readRow), count };
}

/** How many documents match. */
export function countMatches(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
): Promise<number> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const inner = printMatches(dialect, spec, tenant, query, parameters);
  return countRows(session, parameters, { found: `FROM (${inner}) AS m` });
}
