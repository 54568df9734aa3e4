// Checks a credential with one query: the credential itself, its principal, actor and tenant, and
// their memberships.
import type { Trust } from "../../ports/identity.js";
import { isTrue, numberOrNull, textOrNull, type SqlRow } from "./session.js";

/**
 * The query for credentials in a table (`opwright_sessions` or `opwright_api_keys`), found by a
 * condition on the columns of `c`.
 */
export function trustQuery(table: string, condition: string): string {
  return (
    `SELECT c.*, p."is_active" AS "principal_is_active", a."is_active" AS "actor_is_active", ` +
    `t."is_active" AS "tenant_is_active", m."principal_id" AS "member", am."principal_id" AS "actor_member" ` +
    `FROM "${table}" c JOIN "opwright_principals" p ON p."id" = c."principal_id" ` +
    `LEFT JOIN "opwright_principals" a ON a."id" = c."actor_id" ` +
    `LEFT JOIN "opwright_tenants" t ON t."id" = c."tenant_id" ` +
    `LEFT JOIN "opwright_memberships" m ON m."tenant_id" = c."tenant_id" AND m."principal_id" = c."principal_id" ` +
    `LEFT JOIN "opwright_memberships" am ON am."tenant_id" = c."tenant_id" AND am."principal_id" = c."actor_id" ` +
    `WHERE ${condition}`
  );
}

/**
 * Reads a row of that query at `now`, in epoch milliseconds. Sessions have no `expires_at`: their
 * tokens say when they end.
 */
export function readTrust(row: SqlRow, now: number): Trust {
  const hasActor = row["actor_id"] !== null;
  const hasTenant = row["tenant_id"] !== null;
  const expiresAt = numberOrNull(row["expires_at"] ?? null);
  return {
    credentialId: String(row["id"]),
    principalId: String(row["principal_id"]),
    actorId: textOrNull(row["actor_id"]),
    tenant: textOrNull(row["tenant_id"]),
    generation: Number(row["generation"] ?? 0),
    rotatedAt: numberOrNull(row["rotated_at"] ?? null),
    isLive: row["ended_at"] === null && (expiresAt === null || expiresAt > now),
    expiresAt,
    isActive: isTrue(row["principal_is_active"]) && (!hasActor || isTrue(row["actor_is_active"])),
    isTenantActive: !hasTenant || isTrue(row["tenant_is_active"]),
    isMember: !hasTenant || (row["member"] !== null && (!hasActor || row["actor_member"] !== null)),
  };
}
