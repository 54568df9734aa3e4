// The rows of the table of principals.
import type { Principal } from "../../ports/identity.js";
import { isTrue, type SqlRow, type SqlSession } from "./session.js";

export const principalColumns = `"id", "login", "password_hash", "is_active"`;

/** Reads a row of `principalColumns`; null if there is no row. */
export function readPrincipal(row: SqlRow | undefined): Principal | null {
  if (row === undefined) return null;
  return {
    id: String(row["id"]),
    login: String(row["login"]),
    passwordHash: String(row["password_hash"]),
    isActive: isTrue(row["is_active"]),
  };
}

/** See `IdentityStore.listPrincipals`. */
export async function listPrincipals(
  session: SqlSession,
  after: string | null,
  limit: number,
): Promise<readonly Principal[]> {
  const behind = after === null ? "" : ` WHERE "id" > ${session.dialect.placeholder(1)}`;
  const rows = await session.all(
    `SELECT ${principalColumns} FROM "opwright_principals"${behind} ORDER BY "id" LIMIT ${limit}`,
    after === null ? [] : [after],
  );
  return rows.flatMap((row) => readPrincipal(row) ?? []);
}
