// The rows that a principal has created, over all tenants; and the tenants that have rows.
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

/** See `DocumentStore.tenants`. Each is found by the first column of the key, past the last one. */
export async function tenantsOf(
  session: SqlSession,
  spec: AnyDocumentSpec,
): Promise<readonly string[]> {
  if (!spec.tenant) return [""];
  const table = quoteName(spec.table);
  const behind = `WHERE "tenant_id" > ${session.dialect.placeholder(1)}`;
  const found: string[] = [];
  for (;;) {
    const last = found.at(-1);
    const rows = await session.all(
      `SELECT min("tenant_id") AS "tenant_id" FROM ${table} ${last === undefined ? "" : behind}`,
      last === undefined ? [] : [last],
    );
    const next = rows[0]?.["tenant_id"] ?? null;
    // Engines have orders of their own.
    if (next === null) return found.toSorted();
    found.push(String(next));
  }
}
