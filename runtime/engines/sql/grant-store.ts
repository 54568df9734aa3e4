// Grants over SQL: which permission a principal or a role holds, in a tenant or everywhere.
import type { TenantStore } from "../../ports/tenants.js";
import type { SqlSession } from "./session.js";

/** The `tenant_id` of grants that hold in every tenant. */
const everywhere = "";

/** The methods of the tenant store that deal with permissions, within one transaction. */
export function sqlGrants(
  session: SqlSession,
): Pick<TenantStore, "grant" | "revoke" | "listAllGrants" | "listGrants" | "hasGrant"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async grant(tenantId, subject, permission) {
      await session.run(
        `INSERT INTO "opwright_grants" ("tenant_id", "subject", "permission") ` +
          `VALUES (${at(1)}, ${at(2)}, ${at(3)}) ON CONFLICT DO NOTHING`,
        [tenantId ?? everywhere, subject, permission],
      );
    },

    async revoke(tenantId, subject, permission) {
      const text =
        `DELETE FROM "opwright_grants" WHERE "tenant_id" = ${at(1)} ` +
        `AND "subject" = ${at(2)} AND "permission" = ${at(3)}`;
      return (await session.run(text, [tenantId ?? everywhere, subject, permission])) === 1;
    },

    async listAllGrants(tenantId) {
      const rows = await session.all(
        `SELECT "subject", "permission" FROM "opwright_grants" WHERE "tenant_id" = ${at(1)}`,
        [tenantId ?? everywhere],
      );
      return rows.map(({ subject, permission }) => ({
        subject: String(subject),
        permission: String(permission),
      }));
    },

    async listGrants(tenantId, subject) {
      const rows = await session.all(
        `SELECT "permission" FROM "opwright_grants" WHERE "tenant_id" = ${at(1)} AND "subject" = ${at(2)} ORDER BY "permission"`,
        [tenantId ?? everywhere, subject],
      );
      return rows.map((row) => String(row["permission"]));
    },

    // UNION drops duplicates, so the recursion ends even if roles contain each other.
    async hasGrant(tenantId, principalId, permissions) {
      const places = permissions.map((_permission, index) => at(index + 4)).join(", ");
      const within = `"tenant_id" IN (${at(2)}, ${at(3)})`;
      const rows = await session.all(
        `WITH RECURSIVE "held" ("permission") AS (` +
          `SELECT "permission" FROM "opwright_grants" WHERE "subject" = ${at(1)} AND ${within} UNION ` +
          `SELECT g."permission" FROM "held" h JOIN "opwright_grants" g ON g."subject" = h."permission" AND g.${within}) ` +
          `SELECT 1 AS "one" FROM "held" WHERE "permission" IN (${places}) LIMIT 1`,
        [principalId, everywhere, tenantId ?? everywhere, ...permissions],
      );
      return rows.length === 1;
    },
  };
}
