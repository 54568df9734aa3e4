// Writes many documents with few statements: rows, snapshots if history is kept, and search
// indexes.
import { historyTableName } from "../../contract/sql-names.js";
import { mayBeInvolved } from "../../ports/deletions.js";
import { indexedDocument } from "../../ports/indexed-document.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { WholeRevision } from "../../ports/document-history.js";
import type { DocumentStore, StoredDocument } from "../../ports/documents.js";
import { idField } from "../../query/fields.js";
import { forgetDeletions } from "./deletion-store.js";
import { bodyAsStored } from "./document-rows.js";
import { heldTo } from "./document-writes.js";
import { SqlParameters } from "./parameters.js";
import { recordRows, type SqlRecord } from "./records.js";
import { putInIndex, sqlSearchIndexes } from "./search-index.js";
import type { Dialect } from "./dialect/dialect.js";
import type { RecordType, SqlValue } from "./dialect/values.js";
import { quoteName, type SqlSession } from "./session.js";

/** The members of records that change a row: `key` is its id, the others are its new values. */
const next = {
  key: "uuid",
  next_rev: "integer",
  changed: "timestamp",
  marked: "boolean",
  of_shape: "integer",
  json: "json",
} as const satisfies Readonly<Record<string, RecordType>>;
const made = { ...next, made: "timestamp", owner: "text" } as const;
const replacing = { ...next, expected: "integer" } as const;
const noted = { ...next, by: "text" } as const;

/** The methods of the document store that write many documents, within one transaction. */
export function sqlDocumentBulk(
  session: SqlSession,
): Pick<
  DocumentStore,
  "lock" | "holdMany" | "insertMany" | "insertMissing" | "replaceMany" | "removeMany"
> {
  return {
    async lock(spec, tenant, ids) {
      const { holdRows } = session.dialect;
      if (holdRows !== "") await lock(session, spec, tenant, ids, holdRows);
    },
    holdMany: async (spec, tenant, ids) =>
      new Set(await lock(session, spec, tenant, ids, session.dialect.shareRows)),
    async insertMany(spec, tenant, documents) {
      const [text, parameters] = insertionOf(session, spec, tenant, documents);
      await heldTo(spec, () => session.run(text, parameters));
      await keepSnapshots(session, spec, tenant, documents);
      await keepIndexes(session, spec, tenant, documents);
    },
    insertMissing: (spec, tenant, documents) => insertMissing(session, spec, tenant, documents),
    replaceMany: (spec, tenant, changes) => replaceRows(session, spec, tenant, changes),
    removeMany: (spec, tenant, gone) => removeRows(session, spec, tenant, gone),
  };
}

/**
 * Locks the documents that are not deleted, always in the order of ids, so that writers can't
 * deadlock. Returns their ids.
 */
async function lock(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  ids: readonly string[],
  how: string,
): Promise<readonly string[]> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const isOne = dialect.isIn(idField, parameters.add(dialect.list(ids)));
  const rows = await session.all(
    `SELECT "id" FROM ${quoteName(spec.table)} WHERE ${isOne}${ofTenant(spec, tenant, "", parameters)} AND NOT "is_deleted" ORDER BY "id"${how}`,
    parameters.values,
  );
  return rows.map((row) => String(row["id"]));
}

const rowColumns = [
  "id",
  "rev",
  "created_at",
  "last_update_at",
  "is_deleted",
  "owner_id",
  "shape",
  "body",
];

/** The statement that inserts rows, and what it is given. */
function insertionOf(
  { dialect }: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  documents: readonly StoredDocument[],
): readonly [text: string, parameters: readonly SqlValue[]] {
  const columns = [...ownerColumn(spec), ...rowColumns.map(quoteName)];
  const given = ["key", "next_rev", "made", "changed", "marked", "owner", "of_shape"];
  const parameters = new SqlParameters(dialect);
  const values = [
    ...tenantValue(spec, tenant, dialect, parameters),
    ...given.map((name) => `w.${quoteName(name)}`),
    dialect.json(`w."json"`),
  ];
  const records = recordsOf(spec, documents);
  const text =
    `INSERT INTO ${quoteName(spec.table)} (${columns.join(", ")}) ` +
    `SELECT ${values.join(", ")} FROM ${recordRows(made, records, dialect, parameters)}`;
  return [text, parameters.values];
}

/** See `DocumentStore.insertMissing`. */
async function insertMissing(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  documents: readonly StoredDocument[],
): Promise<ReadonlySet<string>> {
  const [text, parameters] = insertionOf(session, spec, tenant, documents);
  const rows = await heldTo(spec, () =>
    session.all(`${text}${unlessThere(spec, `"id"`)} RETURNING "id"`, parameters),
  );
  const ids = new Set(rows.map((row) => String(row["id"])));
  const added = documents.filter(({ id }) => ids.has(id));
  if (added.length === 0) return ids;
  await keepSnapshots(session, spec, tenant, added, unlessThere(spec, `"id"`, `"rev"`));
  await keepIndexes(session, spec, tenant, added);
  return ids;
}

/** Adds revisions that aren't kept yet. */
export async function addRevisions(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  revisions: readonly WholeRevision[],
): Promise<void> {
  const records = revisions.map(({ id, rev, changedAt, changedBy, isDeleted, body }) => {
    const [shape, json] = bodyAsStored(spec, { body });
    return {
      key: id,
      next_rev: rev,
      changed: changedAt,
      by: changedBy,
      marked: isDeleted,
      of_shape: shape,
      json,
    };
  });
  await insertSnapshots(session, spec, tenant, records, unlessThere(spec, `"id"`, `"rev"`));
}

/** Has an insertion leave out rows whose key is there; it ends with the rows to select from. */
function unlessThere(spec: AnyDocumentSpec, ...key: readonly string[]): string {
  // SQLite would read ON as the begin of a join, were there no WHERE.
  return ` WHERE TRUE ON CONFLICT (${[...ownerColumn(spec), ...key].join(", ")}) DO NOTHING`;
}

async function replaceRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  changes: readonly { readonly expectedRev: number; readonly document: StoredDocument }[],
): Promise<ReadonlySet<string>> {
  const { dialect } = session;
  if (dialect.holdRows !== "") {
    const ids = changes.map(({ document }) => document.id);
    await lock(session, spec, tenant, ids, dialect.holdRows);
  }
  const parameters = new SqlParameters(dialect);
  const records = changes.map(({ document, expectedRev }) => recordOf(spec, document, expectedRev));
  const text =
    `UPDATE ${quoteName(spec.table)} AS r SET "rev" = w."next_rev", "last_update_at" = w."changed", ` +
    `"is_deleted" = w."marked", "shape" = w."of_shape", "body" = ${dialect.json(`w."json"`)} ` +
    `FROM ${recordRows(replacing, records, dialect, parameters)} ` +
    `WHERE ${atRevision(spec, tenant, dialect, parameters)} RETURNING "id"`;
  const rows = await heldTo(spec, () => session.all(text, parameters.values));
  const ids = new Set(rows.map((row) => String(row["id"])));
  const documents = changes.flatMap(({ document }) => (ids.has(document.id) ? [document] : []));
  if (documents.length === 0) return ids;
  await keepSnapshots(session, spec, tenant, documents);
  await keepIndexes(session, spec, tenant, documents);
  return ids;
}

async function removeRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  gone: readonly { readonly expectedRev: number; readonly id: string }[],
): Promise<ReadonlySet<string>> {
  const { dialect } = session;
  if (dialect.seizeRows !== "") {
    const ids = gone.map(({ id: key }) => key);
    await lock(session, spec, tenant, ids, dialect.seizeRows);
  }
  const parameters = new SqlParameters(dialect);
  const records = gone.map(({ id: key, expectedRev }) => ({ key, expected: expectedRev }));
  const from =
    `${recordRows({ key: "uuid", expected: "integer" }, records, dialect, parameters)} JOIN ${quoteName(spec.table)} r ` +
    `ON ${atRevision(spec, tenant, dialect, parameters)}`;
  const rows = await session.all(
    `DELETE FROM ${quoteName(spec.table)} WHERE ${dialect.isRowOf("r", from)} RETURNING "id", ${dialect.rowKey} AS "row_key"`,
    parameters.values,
  );
  const ids = rows.map((row) => String(row["id"]));
  if (spec.history !== 0 && ids.length > 0) await removeHistory(session, spec, tenant, ids);
  const indexes = sqlSearchIndexes(session);
  for (const row of rows) await indexes.remove(spec, tenant, row["row_key"] as SqlValue);
  if (mayBeInvolved(spec) && ids.length > 0) await forgetDeletions(session, spec, tenant, ids);
  return new Set(ids);
}

async function removeHistory(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  ids: readonly string[],
): Promise<void> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const isOne = dialect.isIn(idField, parameters.add(dialect.list(ids)));
  await session.run(
    `DELETE FROM ${quoteName(historyTableName(spec.table))} WHERE ${isOne}${ofTenant(spec, tenant, "", parameters)}`,
    parameters.values,
  );
}

async function keepSnapshots(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  documents: readonly StoredDocument[],
  unless = "",
): Promise<void> {
  const { history: kept } = spec;
  if (kept === 0) return;
  await insertSnapshots(session, spec, tenant, recordsOf(spec, documents), unless);
  if (kept !== null) await trimHistory(session, spec, tenant, documents, kept);
}

async function insertSnapshots(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  records: readonly SqlRecord[],
  unless = "",
): Promise<void> {
  const { dialect } = session;
  const history = quoteName(historyTableName(spec.table));
  const told = ["id", "rev", "shape", "changed_at", "changed_by", "is_deleted", "body"];
  const columns = [...ownerColumn(spec), ...told.map(quoteName)];
  const parameters = new SqlParameters(dialect);
  const values = [
    ...tenantValue(spec, tenant, dialect, parameters),
    ...["key", "next_rev", "of_shape", "changed", "by", "marked"].map(
      (name) => `w.${quoteName(name)}`,
    ),
    dialect.json(`w."json"`),
  ];
  await session.run(
    `INSERT INTO ${history} (${columns.join(", ")}) SELECT ${values.join(", ")} ` +
      `FROM ${recordRows(noted, records, dialect, parameters)}${unless}`,
    parameters.values,
  );
}

/** Removes all but the newest `kept` snapshots of each document. */
async function trimHistory(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  documents: readonly StoredDocument[],
  kept: number,
): Promise<void> {
  const over = documents.filter(({ rev }) => rev > kept);
  if (over.length === 0) return;
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const records = over.map(({ id: key, rev }) => ({ key, until: rev - kept }));
  const history = quoteName(historyTableName(spec.table));
  const from =
    `${recordRows({ key: "uuid", until: "integer" }, records, dialect, parameters)} JOIN ${history} h ` +
    `ON h."id" = w."key" AND h."rev" <= w."until"${ofTenant(spec, tenant, "h.", parameters)}`;
  await session.run(
    `DELETE FROM ${history} WHERE ${dialect.isRowOf("h", from)}`,
    parameters.values,
  );
}

async function keepIndexes(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  documents: readonly StoredDocument[],
): Promise<void> {
  for (const index of spec.searches ?? []) {
    const texts = documents.map(({ id: key, body }) =>
      indexedDocument(spec.tenant ? tenant : "", key, body, index),
    );
    await putInIndex(session, spec, index, texts);
  }
}

/**
 * The condition that the row `r` belongs to a record `w` and has the revision that the record
 * expects.
 */
function atRevision(
  spec: AnyDocumentSpec,
  tenant: string,
  dialect: Dialect,
  parameters: SqlParameters,
): string {
  return dialect.isRecorded(
    spec.table,
    (row) =>
      `${row}."id" = w."key" AND ${row}."rev" = w."expected"${ofTenant(spec, tenant, `${row}.`, parameters)}`,
  );
}

/**
 * The condition that rows belong to the tenant, with ` AND` before it; "" if the type has no
 * tenants.
 */
function ofTenant(
  { tenant: hasTenants }: AnyDocumentSpec,
  tenant: string,
  row: string,
  parameters: SqlParameters,
): string {
  return hasTenants ? ` AND ${row}"tenant_id" = ${parameters.add(tenant)}` : "";
}

function ownerColumn({ tenant }: AnyDocumentSpec): readonly string[] {
  return tenant ? [`"tenant_id"`] : [];
}

/** The tenant as a value to select; none if the type has no tenants. */
function tenantValue(
  spec: AnyDocumentSpec,
  tenant: string,
  dialect: Dialect,
  parameters: SqlParameters,
): readonly string[] {
  return spec.tenant ? [dialect.typed("text", parameters.add(tenant))] : [];
}

function recordsOf(
  spec: AnyDocumentSpec,
  documents: readonly StoredDocument[],
): readonly SqlRecord[] {
  return documents.map((document) => recordOf(spec, document, 0));
}

function recordOf(spec: AnyDocumentSpec, document: StoredDocument, expected: number): SqlRecord {
  const [shape, json] = bodyAsStored(spec, document);
  return {
    key: document.id,
    expected,
    next_rev: document.rev,
    made: document.createdAt,
    changed: document.lastUpdateAt,
    marked: document.isDeleted,
    owner: document.ownerId,
    by: document.changedBy ?? null,
    of_shape: shape,
    json,
  };
}
