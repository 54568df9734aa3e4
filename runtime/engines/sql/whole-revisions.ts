// Revisions with their bodies, many at once: read from one database and added to another.
import { historyTableName } from "../../contract/sql-names.js";
import type { HistoryStore, KeptRevision, WholeRevision } from "../../ports/document-history.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { addRevisions } from "./document-bulk.js";
import { bodyAsRead, ownerOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { recordRows } from "./records.js";
import { isTrue, quoteName, textOrNull, type SqlRow, type SqlSession } from "./session.js";

/** The columns of what is known about a revision besides its body. */
export const toldOfRevisions = `"rev", "changed_at", "changed_by", "is_deleted"`;

/** The methods of the history store that are about whole revisions, within one transaction. */
export function sqlWholeRevisions(
  session: SqlSession,
): Pick<HistoryStore, "walk" | "among" | "add" | "sign"> {
  const { dialect } = session;
  return {
    walk: (spec, tenant, after, limit) => walk(session, spec, tenant, after, limit),

    async among(spec, tenant, asked) {
      const parameters = new SqlParameters(dialect);
      const owned = ownedBy(spec, tenant, parameters);
      const records = asked.map(({ id, rev }) => ({ key: id, at: rev }));
      const wanted = recordRows({ key: "uuid", at: "integer" }, records, dialect, parameters);
      const rows = await session.all(
        `SELECT h."id", h."rev", h."changed_at", h."changed_by", h."is_deleted", h."shape", h."body" ` +
          `FROM ${wanted} JOIN ${tableOf(spec)} h ON h."id" = w."key" AND h."rev" = w."at"${owned}`,
        parameters.values,
      );
      return rows.map((row) => readWhole(spec, row));
    },

    async add(spec, tenant, revisions) {
      if (revisions.length > 0) await addRevisions(session, spec, tenant, revisions);
    },

    async sign(spec, tenant, revisions) {
      if (revisions.length === 0) return;
      const parameters = new SqlParameters(dialect);
      const owned = ownedBy(spec, tenant, parameters);
      const records = revisions.map(({ id, rev, changedAt, changedBy }) => ({
        key: id,
        at: rev,
        made: changedAt,
        by: changedBy,
      }));
      const members = { key: "uuid", at: "integer", made: "timestamp", by: "text" } as const;
      await session.run(
        `UPDATE ${tableOf(spec)} AS h SET "changed_at" = w."made", "changed_by" = w."by" ` +
          `FROM ${recordRows(members, records, dialect, parameters)} ` +
          `WHERE h."id" = w."key" AND h."rev" = w."at"${owned}`,
        parameters.values,
      );
    },
  };
}

/** See `HistoryStore.walk`. */
async function walk(
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
    `SELECT "id", ${toldOfRevisions}, "shape", "body" FROM ${tableOf(spec)}${where} ` +
      `ORDER BY "id", "rev" LIMIT ${parameters.add(limit)}`,
    parameters.values,
  );
  return rows.map((row) => readWhole(spec, row));
}

/** The condition on the tenant of the rows `h`, with ` AND` before it. */
function ownedBy(spec: AnyDocumentSpec, tenant: string, parameters: SqlParameters): string {
  return ownerOf(spec, tenant)
    .map((owner) => ` AND h."tenant_id" = ${parameters.add(owner)}`)
    .join("");
}

function tableOf({ table }: AnyDocumentSpec): string {
  return quoteName(historyTableName(table));
}

function readWhole(spec: AnyDocumentSpec, row: SqlRow): WholeRevision {
  return {
    ...readRevision(row),
    id: String(row["id"]),
    body: bodyAsRead(spec, Number(row["shape"]), String(row["body"])),
  };
}

/** Reads the columns of `toldOfRevisions`. */
export function readRevision(row: SqlRow): KeptRevision {
  return {
    rev: Number(row["rev"]),
    changedAt: textOrNull(row["changed_at"]),
    changedBy: textOrNull(row["changed_by"]),
    isDeleted: isTrue(row["is_deleted"]),
  };
}
