// Rows of documents as queries select and read them. Of queries, the tenant predicate is added here and nowhere else.
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { filterCondition } from "./filter.js";
import type { Parameters } from "./parameters.js";
import { isTrue, textOrNull, type Dialect, type ScanColumns, type SqlRow } from "./session.js";

/** The first parameters of a statement about rows of the type: the tenant, where it has tenants. */
export function ownerOf(spec: DocumentDeclaration, tenant: string): readonly string[] {
  return spec.tenant ? [tenant] : [];
}

/** ` WHERE …` of what every row of a query fulfils: its tenant, not deleted, the filter, and what is given further. */
export function whereOf(
  spec: DocumentDeclaration,
  tenant: string,
  query: DocumentQuery,
  dialect: Dialect,
  parameters: Parameters,
  ...further: readonly string[]
): string {
  const conditions = [
    spec.tenant ? `"tenant_id" = ${parameters.add(tenant)}` : null,
    spec.softDelete && !query.withDeleted ? `NOT "is_deleted"` : null,
    filterCondition(query.filter, dialect, parameters),
    ...further,
  ].filter((condition) => condition !== null);
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** What `dialect.columns` selects. */
export const documentColumns: ScanColumns = {
  stored: ["id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"],
};

export function readStored(row: SqlRow): StoredDocument {
  return {
    id: String(row["id"]),
    rev: Number(row["rev"]),
    createdAt: String(row["created_at"]),
    lastUpdateAt: String(row["last_update_at"]),
    isDeleted: isTrue(row["is_deleted"]),
    ownerId: textOrNull(row["owner_id"]),
    body: String(row["body"]),
  };
}
