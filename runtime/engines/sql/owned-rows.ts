// The rows that a principal has created, over all tenants.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, type SqlSession } from "./session.js";

/** See `DocumentStore.owned`. */
export async function ownedRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  ownerId: string,
  after: string | null,
  limit: number,
): Promise<readonly { readonly tenant: string; readonly id: string }[]> {
  const parameters = new SqlParameters(session.dialect);
  const conditions = [`"owner_id" = ${parameters.add(ownerId)}`];
  if (after !== null) conditions.push(`"id" > ${parameters.add(after)}`);
  const rows = await session.scan(
    `SELECT "id"${spec.tenant ? `, "tenant_id"` : ""} FROM ${quoteName(spec.table)} ` +
      `WHERE ${conditions.join(" AND ")} ORDER BY "id" LIMIT ${parameters.add(limit)}`,
    parameters.values,
    { stored: ["id", ...(spec.tenant ? ["tenant_id"] : [])] },
  );
  return rows.map((row) => ({
    tenant: String(row["tenant_id"] ?? ""),
    id: String(row["id"]),
  }));
}
