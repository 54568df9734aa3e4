// Queries of documents as SQL.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { Position } from "../../query/ast.js";
import { countRows } from "./count-rows.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import { isKeyed } from "./keyed-query.js";
import type { Listing } from "./listing.js";
import { afterCondition, orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, withParts, type SqlSession } from "./session.js";
import { sortedRows } from "./sorted-rows.js";

/** Prints a query of documents, whose rows follow a position if one is given. */
export function printDocumentListing(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  after?: Position,
): Listing<StoredDocument> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const sorted = sortedRows(spec, tenant, query.sorts, dialect, parameters);
  const { sorts, joins, columns: joined, withJoined } = sorted;
  const beyond = after === undefined ? [] : [afterCondition(sorts, after, dialect, parameters)];
  const table = quoteName(spec.table);
  const where = whereOf(spec, tenant, query, dialect, parameters, ...beyond);
  return {
    columns: [dialect.columns, ...joined.map(quoteName)].join(", "),
    found: `FROM ${table}${joins}${where} ${orderBy(sorts, dialect)}`,
    counted: { found: `FROM ${table}${where}` },
    parameters,
    run: (text, more = { stored: [] }) =>
      isKeyed(spec, query)
        ? session.all(withParts(text, more), parameters.values)
        : session.scan(text, parameters.values, {
            ...more,
            stored: [...documentColumns.stored, ...more.stored],
            computed: joined,
          }),
    readRow: (row) => withJoined(readStored(spec, row), row),
    count: (upTo) => countDocuments(session, spec, tenant, query, upTo),
  };
}

/** How many rows a query has, counted no further than `upTo`. */
export function countDocuments(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  upTo?: number,
): Promise<number> {
  const parameters = new SqlParameters(session.dialect);
  const where = whereOf(spec, tenant, query, session.dialect, parameters);
  return countRows(session, parameters, { found: `FROM ${quoteName(spec.table)}${where}` }, upTo);
}
