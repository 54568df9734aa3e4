// Queries of documents: their rows, how many there are, and both at once.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { DocumentQuery, PageWindow, StoredDocument, Window } from "../../ports/documents.js";
import type { CountedPage } from "../../ports/pages.js";
import type { Position } from "../../query/ast.js";
import { countRows, readCountedPage } from "./count-rows.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import { isKeyed } from "./keyed-query.js";
import { afterCondition, orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, withParts, type ScanColumns, type SqlRow, type SqlSession } from "./session.js";
import { sortedRows } from "./sorted-rows.js";

/** A query of documents as it is printed, and what reads its rows. */
interface Listing {
  readonly columns: string;
  readonly from: string;
  readonly where: string;
  readonly order: string;
  readonly parameters: SqlParameters;
  /** Runs the statement, which selects these columns, and may have more. */
  run(text: string, more?: ScanColumns): Promise<readonly SqlRow[]>;
  readRow(row: SqlRow): StoredDocument;
}

/** Prints a query of documents, whose rows follow a position if one is given. */
function listingOf(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  after?: Position,
): Listing {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const sorted = sortedRows(spec, tenant, query.sorts, dialect, parameters);
  const { sorts, joins, columns: joined, withJoined } = sorted;
  const beyond = after === undefined ? [] : [afterCondition(sorts, after, dialect, parameters)];
  return {
    columns: [dialect.columns, ...joined.map(quoteName)].join(", "),
    from: `FROM ${quoteName(spec.table)}${joins}`,
    where: whereOf(spec, tenant, query, dialect, parameters, ...beyond),
    order: orderBy(sorts, dialect),
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
  };
}

/** The rows of a window, in order. */
export async function selectRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  { limit, offset, after }: Window,
): Promise<readonly StoredDocument[]> {
  const listing = listingOf(session, spec, tenant, query, after);
  const { columns, from, where, order, parameters } = listing;
  const window = `LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`;
  const rows = await listing.run(`SELECT ${columns} ${from}${where} ${order} ${window}`);
  return rows.map(listing.readRow);
}

/** The rows of a page, in order, and how many the query has, counted no further than `upTo`. */
export async function readPage(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  { upTo, ...window }: PageWindow & { readonly upTo: number },
): Promise<CountedPage<StoredDocument>> {
  const listing = listingOf(session, spec, tenant, query);
  const { columns, from, where, order, parameters } = listing;
  const { rows, count } = await readCountedPage(
    parameters,
    { columns, found: `${from}${where} ${order}`, window },
    { found: `FROM ${quoteName(spec.table)}${where}`, upTo },
    { read: listing.run, count: () => countFound(session, spec, tenant, query, upTo) },
  );
  return { rows: rows.map(listing.readRow), count };
}

/** How many rows a query has, counted no further than `upTo`. */
export function countFound(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  upTo?: number,
): Promise<number> {
  const parameters = new SqlParameters(session.dialect);
  const where = whereOf(spec, tenant, query, session.dialect, parameters);
  return countRows(session, parameters, { found: `FROM ${quoteName(spec.table)}${where}`, upTo });
}
