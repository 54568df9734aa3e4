// Writing many documents by few statements: rows, snapshots where history is kept, and the indexes of searches.
import { indexedDocument } from "../../families/search/indexed-document.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import type { DocumentStore, StoredDocument } from "../../ports/documents.js";
import { idField } from "../../query/fields.js";
import { bodyAsStored, ownerOf } from "./document-rows.js";
import { heldTo } from "./document-writes.js";
import { putInIndex, sqlSearchIndexes } from "./search-index.js";
import {
  quoted,
  type Dialect,
  type RecordType,
  type SqlSession,
  type SqlValue,
} from "./session.js";

/** What a row becomes, as records have it; `"key"` and `"expected"` tell which it was. */
const next: Readonly<Record<string, RecordType>> = {
  key: "uuid",
  expected: "integer",
  next_rev: "integer",
  made: "timestamp",
  changed: "timestamp",
  marked: "boolean",
  owner: "text",
  by: "text",
  of_shape: "integer",
  json: "text",
};

/** The part of the document store of one transaction that writes many. */
export function sqlDocumentBulk(
  session: SqlSession,
): Pick<DocumentStore, "holdMany" | "insertMany" | "replaceMany" | "removeMany"> {
  return {
    holdMany: async (spec, tenant, ids) =>
      new Set(await lock(session, spec, tenant, ids, session.dialect.shareRows)),
    insertMany: (spec, tenant, documents) => inserted(session, spec, tenant, documents),
    replaceMany: (spec, tenant, changes) => replaced(session, spec, tenant, changes),
    removeMany: (spec, tenant, gone) => removed(session, spec, tenant, gone),
  };
}

/** Has whoever writes the same rows wait, all in one order, so that nobody waits for each other. Gives those that live. */
async function lock(
  session: SqlSession,
  spec: DocumentDeclaration,
  tenant: string,
  ids: readonly string[],
  how: string,
): Promise<readonly string[]> {
  const { dialect } = session;
  const isOne = dialect.isIn(idField, dialect.placeholder(1));
  const rows = await session.all(
    `SELECT "id" FROM ${quoted(spec.table)} WHERE ${isOne}${owned(spec, "", dialect)} AND NOT "is_deleted" ORDER BY "id"${how}`,
    [dialect.list(ids), ...ownerOf(spec, tenant)],
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

async function inserted(
  session: SqlSession,
  spec: DocumentDeclaration,
  tenant: string,
  documents: readonly StoredDocument[],
): Promise<void> {
  const { dialect } = session;
  const columns = [...ownerColumn(spec), ...rowColumns.map(quoted)];
  const given = ["key", "next_rev", "made", "changed", "marked", "owner", "of_shape"];
  const values = [
    ...tenantValue(spec, dialect),
    ...given.map((name) => `w.${quoted(name)}`),
    dialect.json(`w."json"`),
  ];
  const text =
    `INSERT INTO ${quoted(spec.table)} (${columns.join(", ")}) ` +
    `SELECT ${values.join(", ")} FROM ${dialect.records(next, dialect.placeholder(1))}`;
  const records = JSON.stringify(documents.map((document) => recordOf(spec, document, 0)));
  await heldTo(spec, () => session.run(text, [records, ...ownerOf(spec, tenant)]));
  await keepSnapshots(session, spec, tenant, documents);
  await keepIndexes(session, spec, tenant, documents);
}

async function replaced(
  session: SqlSession,
  spec: DocumentDeclaration,
  tenant: string,
  changes: readonly { readonly expectedRev: number; readonly document: StoredDocument }[],
): Promise<ReadonlySet<string>> {
  const { dialect } = session;
  if (dialect.holdRows !== "") {
    const ids = changes.map(({ document }) => document.id);
    await lock(session, spec, tenant, ids, dialect.holdRows);
  }
  const text =
    `UPDATE ${quoted(spec.table)} AS r SET "rev" = w."next_rev", "last_update_at" = w."changed", ` +
    `"is_deleted" = w."marked", "shape" = w."of_shape", "body" = ${dialect.json(`w."json"`)} ` +
    `FROM ${dialect.records(next, dialect.placeholder(1))} ` +
    `WHERE ${atRevision(spec, dialect)} RETURNING "id"`;
  const records = changes.map(({ document, expectedRev }) => recordOf(spec, document, expectedRev));
  const rows = await heldTo(spec, () =>
    session.all(text, [JSON.stringify(records), ...ownerOf(spec, tenant)]),
  );
  const ids = new Set(rows.map((row) => String(row["id"])));
  const documents = changes.flatMap(({ document }) => (ids.has(document.id) ? [document] : []));
  if (documents.length === 0) return ids;
  await keepSnapshots(session, spec, tenant, documents);
  await keepIndexes(session, spec, tenant, documents);
  return ids;
}

async function removed(
  session: SqlSession,
  spec: DocumentDeclaration,
  tenant: string,
  gone: readonly { readonly expectedRev: number; readonly id: string }[],
): Promise<ReadonlySet<string>> {
  const { dialect } = session;
  const at = dialect.placeholder(1);
  if (dialect.seizeRows !== "") {
    const ids = gone.map(({ id: key }) => key);
    await lock(session, spec, tenant, ids, dialect.seizeRows);
  }
  const from =
    `${dialect.records({ key: "uuid", expected: "integer" }, at)} JOIN ${quoted(spec.table)} r ` +
    `ON ${atRevision(spec, dialect)}`;
  const rows = await session.all(
    `DELETE FROM ${quoted(spec.table)} WHERE ${dialect.isRowOf("r", from)} RETURNING "id", ${dialect.rowKey} AS "row_key"`,
    [
      JSON.stringify(gone.map(({ id: key, expectedRev }) => ({ key, expected: expectedRev }))),
      ...ownerOf(spec, tenant),
    ],
  );
  const ids = rows.map((row) => String(row["id"]));
  if (spec.history !== 0 && ids.length > 0)
    await session.run(
      `DELETE FROM ${quoted(`${spec.table}_history`)} WHERE ${dialect.isIn(idField, at)}${owned(spec, "", dialect)}`,
      [dialect.list(ids), ...ownerOf(spec, tenant)],
    );
  const indexes = sqlSearchIndexes(session);
  for (const row of rows) await indexes.remove(spec, tenant, row["row_key"] as SqlValue);
  return new Set(ids);
}

async function keepSnapshots(
  session: SqlSession,
  spec: DocumentDeclaration,
  tenant: string,
  documents: readonly StoredDocument[],
): Promise<void> {
  const { history: kept } = spec;
  if (kept === 0) return;
  const { dialect } = session;
  const at = dialect.placeholder(1);
  const history = quoted(`${spec.table}_history`);
  const told = ["id", "rev", "shape", "changed_at", "changed_by", "is_deleted", "body"];
  const columns = [...ownerColumn(spec), ...told.map(quoted)];
  const values = [
    ...tenantValue(spec, dialect),
    ...["key", "next_rev", "of_shape", "changed", "by", "marked"].map(
      (name) => `w.${quoted(name)}`,
    ),
    dialect.json(`w."json"`),
  ];
  await session.run(
    `INSERT INTO ${history} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${dialect.records(next, at)}`,
    [
      JSON.stringify(documents.map((document) => recordOf(spec, document, 0))),
      ...ownerOf(spec, tenant),
    ],
  );
  const over = kept === null ? [] : documents.filter(({ rev }) => rev > kept);
  if (over.length === 0) return;
  const from =
    `${dialect.records({ key: "uuid", until: "integer" }, at)} JOIN ${history} h ` +
    `ON h."id" = w."key" AND h."rev" <= w."until"${owned(spec, "h.", dialect)}`;
  await session.run(`DELETE FROM ${history} WHERE ${dialect.isRowOf("h", from)}`, [
    JSON.stringify(over.map(({ id: key, rev }) => ({ key, until: rev - (kept ?? 0) }))),
    ...ownerOf(spec, tenant),
  ]);
}

async function keepIndexes(
  session: SqlSession,
  spec: DocumentDeclaration,
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

/** That the rows are the tenant's, who is the second parameter. */
/** Whether the row `r` is that of a record `w`, at the revision that it expects. */
function atRevision(spec: DocumentDeclaration, dialect: Dialect): string {
  return dialect.isRecorded(
    spec.table,
    (row) =>
      `${row}."id" = w."key" AND ${row}."rev" = w."expected"${owned(spec, `${row}.`, dialect)}`,
  );
}

function owned({ tenant }: DocumentDeclaration, row: string, dialect: Dialect): string {
  return tenant ? ` AND ${row}"tenant_id" = ${dialect.placeholder(2)}` : "";
}

function ownerColumn({ tenant }: DocumentDeclaration): readonly string[] {
  return tenant ? [`"tenant_id"`] : [];
}

/** The tenant as a SELECT gives it: the second parameter. */
function tenantValue({ tenant }: DocumentDeclaration, dialect: Dialect): readonly string[] {
  return tenant ? [dialect.typed("text", dialect.placeholder(2))] : [];
}

function recordOf(
  spec: DocumentDeclaration,
  document: StoredDocument,
  expected: number,
): Readonly<Record<string, string | number | boolean | null>> {
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
