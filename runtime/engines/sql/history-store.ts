// The history of documents over SQL, shared by all SQL engines.
import { historyTableName } from "../../contract/sql-names.js";
import type {
  DeletedDocument,
  HistoryStore,
  KeptRevision,
  WholeRevision,
} from "../../ports/document-history.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { addRevisions } from "./document-bulk.js";
import { bodyAsRead, ownerOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { between, selectKeys, keyOf, orderByKeys, type Table } from "./row-walk.js";
import { isTrue, quoteName, textOrNull, type SqlRow, type SqlSession } from "./session.js";

const told = `"rev", "changed_at", "changed_by", "is_deleted"`;

/** The history store of one transaction. */
export function sqlHistoryStore(session: SqlSession): HistoryStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async revisions(spec, tenant, id, before, limit) {
      const parameters = new SqlParameters(dialect);
      const conditions = ofDocument(spec, tenant, id, parameters);
      if (before !== null) conditions.push(`"rev" < ${parameters.add(before)}`);
      const rows = await session.all(
        `SELECT ${told} FROM ${historyOf(spec)} WHERE ${conditions.join(" AND ")} ` +
          `ORDER BY "rev" DESC LIMIT ${parameters.add(limit)}`,
        parameters.values,
      );
      return rows.map(readRevision);
    },

    async revision(spec, tenant, id, rev) {
      const parameters = new SqlParameters(dialect);
      const conditions = ofDocument(spec, tenant, id, parameters);
      const [row] = await session.all(
        `SELECT ${told}, "shape", "body" FROM ${historyOf(spec)} WHERE ${conditions.join(" AND ")} AND "rev" = ${parameters.add(rev)}`,
        parameters.values,
      );
      if (row === undefined) return null;
      return {
        ...readRevision(row),
        body: bodyAsRead(spec, Number(row["shape"]), String(row["body"])),
      };
    },

    walk: (spec, tenant, after, limit) => walkRevisions(session, spec, tenant, after, limit),

    add: (spec, tenant, revisions) => addRevisions(session, spec, tenant, revisions),

    purge(spec, tenant, id, rev) {
      const parameters = new SqlParameters(dialect);
      const conditions = ofDocument(spec, tenant, id, parameters);
      return session.run(
        `DELETE FROM ${historyOf(spec)} WHERE ${conditions.join(" AND ")} AND "rev" < ${parameters.add(rev)}`,
        parameters.values,
      );
    },

    async deletedUntil(spec, until, after, limit) {
      const parameters = new SqlParameters(dialect);
      const conditions = [`"is_deleted"`, `"last_update_at" <= ${parameters.add(until)}`];
      if (after !== null)
        conditions.push(
          `("last_update_at", "id") > (${parameters.add(after.lastUpdateAt)}, ${parameters.add(after.id)})`,
        );
      const rows = await session.all(
        `SELECT ${spec.tenant ? `"tenant_id", ` : ""}"id", "last_update_at" FROM ${quoteName(spec.table)} ` +
          `WHERE ${conditions.join(" AND ")} ORDER BY "last_update_at", "id" LIMIT ${parameters.add(limit)}`,
        parameters.values,
      );
      return rows.map((row): DeletedDocument => ({
        tenant: String(row["tenant_id"] ?? ""),
        id: String(row["id"]),
        lastUpdateAt: String(row["last_update_at"]),
      }));
    },

    async trim(spec, keep, after, limit) {
      const table: Table = { name: quoteName(spec.table), keys: dialect.rowKeys(spec) };
      const { condition, parameters } = between(session, table, after, null);
      const owner = spec.tenant ? `r."tenant_id", ` : "";
      const rows = await session.all(
        `SELECT ${selectKeys(table).join(", ")}, ${owner}r."id", r."rev" FROM ${table.name} r WHERE ${condition} ` +
          `ORDER BY ${orderByKeys(table)} LIMIT ${at(parameters.length + 1)}`,
        [...parameters, limit],
      );
      let removed = 0;
      let next = after;
      for (const row of rows) {
        removed += await trimRevisions(session, spec, row, keep, limit - removed);
        // The next call goes on with the rest of this document.
        if (removed >= limit) return { removed, next };
        next = keyOf(row, table);
      }
      return { removed, next: rows.length < limit ? null : next };
    },
  };
}

/** See `HistoryStore.walk`. */
async function walkRevisions(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  after: Pick<WholeRevision, "id" | "rev"> | null,
  limit: number,
): Promise<readonly WholeRevision[]> {
  const parameters = new SqlParameters(session.dialect);
  const conditions = ownerOf(spec, tenant).map((owner) => `"tenant_id" = ${parameters.add(owner)}`);
  if (after !== null)
    conditions.push(`("id", "rev") > (${parameters.add(after.id)}, ${parameters.add(after.rev)})`);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const rows = await session.all(
    `SELECT "id", ${told}, "shape", "body" FROM ${historyOf(spec)}${where} ` +
      `ORDER BY "id", "rev" LIMIT ${parameters.add(limit)}`,
    parameters.values,
  );
  return rows.map((row) => ({
    ...readRevision(row),
    id: String(row["id"]),
    body: bodyAsRead(spec, Number(row["shape"]), String(row["body"])),
  }));
}

/**
 * Removes up to `limit` of a document's oldest revisions, but none of the newest `keep`. Returns
 * how many.
 */
async function trimRevisions(
  session: SqlSession,
  spec: AnyDocumentSpec,
  row: SqlRow,
  keep: number,
  limit: number,
): Promise<number> {
  const rev = Number(row["rev"]);
  if (rev <= keep) return 0;
  const parameters = new SqlParameters(session.dialect);
  const tenant = String(row["tenant_id"] ?? "");
  const mine = ofDocument(spec, tenant, String(row["id"]), parameters).join(" AND ");
  return session.run(
    `DELETE FROM ${historyOf(spec)} WHERE ${mine} AND "rev" IN ` +
      `(SELECT "rev" FROM ${historyOf(spec)} WHERE ${mine} AND "rev" <= ${parameters.add(rev - keep)} ORDER BY "rev" LIMIT ${parameters.add(limit)})`,
    parameters.values,
  );
}

function historyOf({ table }: AnyDocumentSpec): string {
  return quoteName(historyTableName(table));
}

function ofDocument(
  spec: AnyDocumentSpec,
  tenant: string,
  id: string,
  parameters: SqlParameters,
): string[] {
  const owned = ownerOf(spec, tenant).map((owner) => `"tenant_id" = ${parameters.add(owner)}`);
  return [...owned, `"id" = ${parameters.add(id)}`];
}

function readRevision(row: SqlRow): KeptRevision {
  return {
    rev: Number(row["rev"]),
    changedAt: textOrNull(row["changed_at"]),
    changedBy: textOrNull(row["changed_by"]),
    isDeleted: isTrue(row["is_deleted"]),
  };
}
