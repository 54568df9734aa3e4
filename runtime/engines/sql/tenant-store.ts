// Tenants over SQL, shared by all SQL engines.
import type { Tenant, TenantStore } from "../../ports/tenants.js";
import { sqlGrants } from "./grant-store.js";
import { sqlMembers } from "./member-store.js";
import { lockPrincipal } from "./principal-lock.js";
import { isTrue, type SqlRow, type SqlSession } from "./session.js";

/** The tenant store of one transaction. */
export function sqlTenantStore(session: SqlSession): TenantStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const find = async (column: "id" | "key", value: string): Promise<Tenant | null> => {
    const [row] = await session.all(
      `SELECT "id", "key", "is_active" FROM "opwright_tenants" WHERE "${column}" = ${at(1)}`,
      [value],
    );
    return row === undefined ? null : readTenant(row);
  };
  return {
    async addTenant({ id, key, isActive }) {
      const added = await session.run(
        `INSERT INTO "opwright_tenants" ("id", "key", "is_active") VALUES (${at(1)}, ${at(2)}, ${at(3)}) ` +
          `ON CONFLICT ("key") DO NOTHING`,
        [id, key, isActive],
      );
      return added === 1;
    },

    findTenant: (id) => find("id", id),
    findTenantByKey: (key) => find("key", key),

    async setTenantActive(id, isActive) {
      const text = `UPDATE "opwright_tenants" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)}`;
      return (await session.run(text, [id, isActive])) === 1;
    },

    async listTenants(after, limit) {
      const behind = after === undefined ? "" : ` WHERE "key" > ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "key", "is_active" FROM "opwright_tenants"${behind} ORDER BY "key" LIMIT ${limit}`,
        after === undefined ? [] : [after],
      );
      return rows.map(readTenant);
    },

    async addMember(tenantId, principalId) {
      await session.run(
        `INSERT INTO "opwright_memberships" ("tenant_id", "principal_id") VALUES (${at(1)}, ${at(2)}) ON CONFLICT DO NOTHING`,
        [tenantId, principalId],
      );
    },

    async removeMember(tenantId, principalId, now) {
      await lockPrincipal(session, principalId);
      for (const table of ["sessions", "api_keys"])
        await session.run(
          `UPDATE "opwright_${table}" SET "ended_at" = ${at(3)} WHERE "tenant_id" = ${at(1)} ` +
            `AND ("principal_id" = ${at(2)} OR "actor_id" = ${at(2)}) AND "ended_at" IS NULL`,
          [tenantId, principalId, now],
        );
      const ofMember = `WHERE "tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;
      await session.run(
        `DELETE FROM "opwright_grants" WHERE "tenant_id" = ${at(1)} AND "subject" = ${at(2)}`,
        [tenantId, principalId],
      );
      const text = `DELETE FROM "opwright_memberships" ${ofMember}`;
      return (await session.run(text, [tenantId, principalId])) === 1;
    },

    async isMember(tenantId, principalId) {
      const text = `SELECT 1 AS "one" FROM "opwright_memberships" WHERE "tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;
      return (await session.all(text, [tenantId, principalId])).length === 1;
    },

    async listMembers(tenantId) {
      const rows = await session.scan(
        `SELECT "principal_id" FROM "opwright_memberships" WHERE "tenant_id" = ${at(1)} ORDER BY "principal_id"`,
        [tenantId],
        { stored: ["principal_id"] },
      );
      return rows.map((row) => String(row["principal_id"]));
    },

    async listMemberships(principalId) {
      const rows = await session.all(
        `SELECT t."id", t."key", t."is_active" FROM "opwright_memberships" m ` +
          `JOIN "opwright_tenants" t ON t."id" = m."tenant_id" ` +
          `WHERE m."principal_id" = ${at(1)} AND t."is_active" ORDER BY t."key"`,
        [principalId],
      );
      return rows.map(readTenant);
    },

    ...sqlGrants(session),
    ...sqlMembers(session),
  };
}

function readTenant(row: SqlRow): Tenant {
  return {
    id: String(row["id"]),
    key: String(row["key"]),
    isActive: isTrue(row["is_active"]),
  };
}
