// The tenants that have documents of a type.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { quoteName, type SqlSession } from "./session.js";

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
