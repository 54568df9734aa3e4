// A row of the table of principals.
import type { Principal } from "../../ports/identity.js";
import { isTrue, type SqlRow } from "./session.js";

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
