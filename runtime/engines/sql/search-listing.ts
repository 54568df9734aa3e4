// Searches as SQL.
import type { ScoredDocument, SearchQuery } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import type { Position } from "../../query/ast.js";
import { countRows } from "./count-rows.js";
import type { Dialect } from "./dialect/dialect.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import type { Listing } from "./listing.js";
import { afterCondition, orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, type SqlSession } from "./session.js";
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

/** Prints a search, whose rows follow a position if one is given. */
export function printMatchListing(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  after?: Position,
): Listing<ScoredDocument> {
  const { dialect } = session;
  const { document } = spec;
  const parameters = new SqlParameters(dialect);
  const matches = `FROM (${printMatches(dialect, spec, tenant, query, parameters)}) AS m`;
  const sorted = sortedRows(document, tenant, query.sorts, dialect, parameters);
  const { sorts, joins, columns: joined, withJoined } = sorted;
  const beyond =
    after === undefined ? "" : ` WHERE ${afterCondition(sorts, after, dialect, parameters)}`;
  return {
    columns: [dialect.columns, `"score"`, ...joined.map(quoteName)].join(", "),
    found: `${matches}${joins}${beyond} ${orderBy(sorts, dialect)}`,
    counted: { found: matches },
    parameters,
    run: (text, more = { stored: [] }) =>
      session.scan(text, parameters.values, {
        ...more,
        stored: [...documentColumns.stored, ...more.stored],
        computed: ["score", ...joined],
      }),
    readRow: (row) =>
      withJoined({ ...readStored(document, row), score: Number(row["score"]) }, row),
    count: () => countMatches(session, spec, tenant, query),
  };
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
