// The history of documents over SQL, shared by all SQL engines.
import { historyTableName } from "../../contract/sql-names.js";
import type { DeletedDocument, HistoryStore } from "../../ports/document-history.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { bodyAsRead, ownerOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { between, selectKeys, keyOf, orderByKeys, type Table } from "./row-walk.js";
import { readRevision, sqlWholeRevisions, toldOfRevisions as told } from "./whole-revisions.js";
import { quoteName, type SqlRow, type SqlSession } from "./session.js";

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

    ...sqlWholeRevisions(session),
  };
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
