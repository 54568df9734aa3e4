// The rows that a principal has created, over all tenants.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import { documentColumns, readStored } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, type SqlSession } from "./session.js";

/** See `DocumentStore.owned`. */
export async function ownedRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  ownerId: string,
  after: string | null,
  limit: number,
): Promise<readonly { readonly tenant: string; readonly stored: StoredDocument }[]> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const conditions = [`"owner_id" = ${parameters.add(ownerId)}`];
  if (after !== null) conditions.push(`"id" > ${parameters.add(after)}`);
  const rows = await session.scan(
    `SELECT ${dialect.columns}${spec.tenant ? `, "tenant_id"` : ""} FROM ${quoteName(spec.table)} ` +
      `WHERE ${conditions.join(" AND ")} ORDER BY "id" LIMIT ${parameters.add(limit)}`,
    parameters.values,
    { stored: [...documentColumns.stored, ...(spec.tenant ? ["tenant_id"] : [])] },
  );
  return rows.map((row) => ({
    tenant: String(row["tenant_id"] ?? ""),
    stored: readStored(spec, row),
  }));
}
