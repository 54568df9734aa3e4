// Members of tenants with what they hold there, over SQL.
import type { TenantStore } from "../../ports/tenants.js";
import { holdCount } from "./capped.js";
import type { SqlSession } from "./session.js";

const subjectField = { path: "subject", type: "string", isColumn: true } as const;

/** The methods of the tenant store that deal with members and their roles, in one transaction. */
export function sqlMembers(
  session: SqlSession,
): Pick<TenantStore, "listMemberPage" | "holdMembers" | "hasOtherHolder"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async listMemberPage(tenantId, after, limit) {
      const behind = after === undefined ? "" : ` AND m."principal_id" > ${at(2)}`;
      const rows = await session.all(
        `SELECT m."principal_id", p."login" FROM "opwright_memberships" m ` +
          `JOIN "opwright_principals" p ON p."id" = m."principal_id" ` +
          `WHERE m."tenant_id" = ${at(1)}${behind} ORDER BY m."principal_id" LIMIT ${limit}`,
        after === undefined ? [tenantId] : [tenantId, after],
      );
      const ids = rows.map((row) => String(row["principal_id"]));
      const grants = await session.all(
        `SELECT "subject", "permission" FROM "opwright_grants" ` +
          `WHERE "tenant_id" = ${at(1)} AND ${dialect.isIn(subjectField, at(2))} ORDER BY "permission"`,
        [tenantId, dialect.list(ids)],
      );
      return rows.map((row) => {
        const principalId = String(row["principal_id"]);
        const own = grants.filter((one) => one["subject"] === principalId);
        const held = own.map((one) => String(one["permission"]));
        return { principalId, login: String(row["login"]), grants: held };
      });
    },

    holdMembers: (tenantId) => holdCount(session, "members", tenantId),

    async hasOtherHolder(tenantId, permission, principalId) {
      const rows = await session.all(
        `SELECT 1 AS "one" FROM "opwright_grants" WHERE "tenant_id" = ${at(1)} AND "permission" = ${at(2)} ` +
          `AND "subject" <> ${at(3)} AND "subject" NOT LIKE 'role:%' LIMIT 1`,
        [tenantId, permission, principalId],
      );
      return rows.length === 1;
    },
  };
}
