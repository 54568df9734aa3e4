// The document store over SQL, shared by all SQL engines.
import type { DocumentStore } from "../../ports/documents.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { aggregateRows } from "./aggregate.js";
import { countDocuments, printDocumentListing } from "./document-listing.js";
import { bodyAsRead, ownerOf, readStored } from "./document-rows.js";
import { renewRows } from "./document-renewal.js";
import { statementsOf } from "./document-statements.js";
import { sqlDocumentBulk } from "./document-bulk.js";
import { sqlDocumentWrites } from "./document-writes.js";
import { readCountedPage, selectListed } from "./listing.js";
import { namedRows } from "./named-rows.js";
import { tenantsOf } from "./document-tenants.js";
import { ownedRows } from "./owned-rows.js";
import { hold } from "./held-names.js";
import { quoteName, type SqlSession } from "./session.js";

/** How many rows an estimate counts at most. */
const maxCounted = 20_000;

/** The document store of one transaction. */
export function sqlDocumentStore(session: SqlSession): DocumentStore {
  const { dialect } = session;
  return {
    async get(spec, tenant, id) {
      const [row] = await session.all(statementsOf(spec, dialect).get, [
        ...ownerOf(spec, tenant),
        id,
      ]);
      return row === undefined ? null : readStored(spec, row);
    },

    async hold(spec, tenant, id) {
      const rows = await session.all(statementsOf(spec, dialect).hold, [
        ...ownerOf(spec, tenant),
        id,
      ]);
      return rows.length > 0;
    },

    async seize(spec, tenant, id) {
      const { seize } = statementsOf(spec, dialect);
      if (seize !== null) await session.all(seize, [...ownerOf(spec, tenant), id]);
    },

    async holdName(name) {
      await hold(session, name);
    },

    async snapshot(spec, tenant, id, rev) {
      const [row] = await session.all(statementsOf(spec, dialect).snapshot, [
        ...ownerOf(spec, tenant),
        id,
        rev,
      ]);
      return row === undefined ? null : bodyAsRead(spec, Number(row["shape"]), String(row["body"]));
    },

    select: (spec, tenant, query, window) =>
      selectListed(printDocumentListing(session, spec, tenant, query, window.after), window),

    countedPage: (spec, tenant, query, window, upTo) =>
      readCountedPage(printDocumentListing(session, spec, tenant, query), window, upTo),

    count: (spec, tenant, query, upTo) => countDocuments(session, spec, tenant, query, upTo),

    named: (asked, tenant, maxBytes) => namedRows(session, asked, tenant, maxBytes),

    aggregate: (spec, tenant, query, aggregate, window) =>
      aggregateRows(session, spec, tenant, query, aggregate, window),

    renew: (spec, after, limit, attempt) => renewRows(session, spec, after, limit, attempt),

    tenants: (spec) => tenantsOf(session, spec),

    owned: (spec, ownerId, after, limit) => ownedRows(session, spec, ownerId, after, limit),

    estimate: (spec, tenant) => aboutSize(session, spec, spec.tenant ? tenant : null),

    size: (spec) => aboutSize(session, spec, null),

    // After the methods: an object literal that begins with a spread takes twenty times as long to
    // create.
    ...sqlDocumentWrites(session),
    ...sqlDocumentBulk(session),
  };
}

/**
 * How many rows a tenant has (null for all tenants): exact below `maxCounted`, otherwise the
 * engine's estimate for the whole table.
 */
async function aboutSize(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string | null,
): Promise<number> {
  const { dialect } = session;
  const owned = tenant === null ? "" : ` WHERE "tenant_id" = ${dialect.placeholder(1)}`;
  const [counted] = await session.scan(
    `SELECT count(*) AS "count" FROM (SELECT 1 FROM ${quoteName(spec.table)}${owned} LIMIT ${maxCounted}) AS "counted"`,
    tenant === null ? [] : [tenant],
    { stored: ["count"] },
  );
  const count = Number(counted?.["count"] ?? 0);
  if (count < maxCounted) return count;
  const [row] = await session.all(dialect.tableRows(spec.table), []);
  return Math.max(maxCounted, Number(row?.["rows"] ?? 0));
}
