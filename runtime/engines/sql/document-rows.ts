// Rows of documents as queries select and read them. Of queries, the tenant predicate is added here and nowhere else.
import type { DocumentQuery, StoredDocument } from "../../documents/port.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
import { filterCondition } from "./filter.js";
import type { Parameters } from "./parameters.js";
import { isTrue, textOrNull, type Dialect, type SqlRow } from "./session.js";

/** The conditions that every row of a query fulfils: its tenant, not deleted, the filter. */
export function conditionsOf(
  spec: DocumentDeclaration,
  tenant: string,
  query: DocumentQuery,
  dialect: Dialect,
  parameters: Parameters,
): readonly string[] {
  const filter = (): string | null => filterCondition(query.filter, dialect, parameters);
  return [
    spec.tenant ? `"tenant_id" = ${parameters.add(tenant)}` : null,
    spec.softDelete && !query.withDeleted ? `NOT "is_deleted"` : null,
    filter(),
  ].filter((condition) => condition !== null);
}

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
