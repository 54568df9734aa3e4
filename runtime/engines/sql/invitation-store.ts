// Invitations over SQL, shared by all SQL engines.
import type { Invitation, InvitationStore } from "../../ports/invitations.js";
import { holdCount } from "./capped.js";
import type { SqlRow, SqlSession } from "./session.js";

const columns = `"id", "tenant_id", "login", "roles", "invited_by", "created_at", "expires_at"`;
const replaced = ["id", "roles", "invited_by", "created_at", "expires_at", "digest"];

/** The invitation store of one transaction. */
export function sqlInvitationStore(session: SqlSession): InvitationStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const outstanding = (digests: readonly string[]): string =>
    `"expires_at" > ${at(1)} AND "digest" IN (${digests.map((_digest, index) => at(index + 2)).join(", ")})`;
  const first = (rows: readonly SqlRow[]): Invitation | null => {
    const [row] = rows;
    return row === undefined ? null : readInvitation(row);
  };
  return {
    async put({ id, tenant, login, roles, invitedBy, createdAt, expiresAt, digest }) {
      const places = Array.from({ length: 8 }, (_, index) => at(index + 1)).join(", ");
      await session.run(
        `INSERT INTO "opwright_invitations" (${columns}, "digest") VALUES (${places}) ` +
          `ON CONFLICT ("tenant_id", "login") DO UPDATE SET ` +
          replaced.map((name) => `"${name}" = excluded."${name}"`).join(", "),
        [id, tenant, login, JSON.stringify(roles), invitedBy, createdAt, expiresAt, digest],
      );
    },

    async countOthers(tenant, login, now) {
      await holdCount(session, "invitations", tenant);
      const [row] = await session.all(
        `SELECT count(*) AS "count" FROM "opwright_invitations" ` +
          `WHERE "tenant_id" = ${at(1)} AND "login" <> ${at(2)} AND "expires_at" > ${at(3)}`,
        [tenant, login, now],
      );
      return Number(row?.["count"]);
    },

    async list(tenant, now) {
      const rows = await session.all(
        `SELECT ${columns} FROM "opwright_invitations" WHERE "tenant_id" = ${at(1)} AND "expires_at" > ${at(2)} ` +
          `ORDER BY "created_at", "id"`,
        [tenant, now],
      );
      return rows.map(readInvitation);
    },

    async listTo(login, now) {
      const text = `SELECT ${columns} FROM "opwright_invitations" WHERE "login" = ${at(1)} AND "expires_at" > ${at(2)} ORDER BY "id"`;
      return (await session.all(text, [login, now])).map(readInvitation);
    },

    async findOf(tenant, login, now) {
      const text = `SELECT ${columns} FROM "opwright_invitations" WHERE "tenant_id" = ${at(1)} AND "login" = ${at(2)} AND "expires_at" > ${at(3)}`;
      return first(await session.all(text, [tenant, login, now]));
    },

    async removeOf(invitedBy, tenant) {
      const within = tenant === null ? "" : ` AND "tenant_id" = ${at(2)}`;
      await session.run(
        `DELETE FROM "opwright_invitations" WHERE "invited_by" = ${at(1)}${within}`,
        tenant === null ? [invitedBy] : [invitedBy, tenant],
      );
    },

    removeTo: (login) =>
      session.run(`DELETE FROM "opwright_invitations" WHERE "login" = ${at(1)}`, [login]),

    async remove(tenant, id) {
      const text = `DELETE FROM "opwright_invitations" WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)} RETURNING ${columns}`;
      return first(await session.all(text, [tenant, id]));
    },

    async find(digests, now) {
      const text = `SELECT ${columns} FROM "opwright_invitations" WHERE ${outstanding(digests)}`;
      return first(await session.all(text, [now, ...digests]));
    },

    async take(digests, now) {
      const text = `DELETE FROM "opwright_invitations" WHERE ${outstanding(digests)} RETURNING ${columns}`;
      return first(await session.all(text, [now, ...digests]));
    },

    prune: (before, limit) =>
      session.run(
        `DELETE FROM "opwright_invitations" WHERE ${session.dialect.isRowOf(
          "t",
          `"opwright_invitations" t WHERE t."expires_at" < ${at(1)} ORDER BY t."expires_at" LIMIT ${limit}`,
        )}`,
        [before],
      ),
  };
}

function readInvitation(row: SqlRow): Invitation {
  return {
    id: String(row["id"]),
    tenant: String(row["tenant_id"]),
    login: String(row["login"]),
    // Written by `put`.
    roles: JSON.parse(String(row["roles"])) as readonly string[],
    invitedBy: String(row["invited_by"]),
    createdAt: Number(row["created_at"]),
    expiresAt: Number(row["expires_at"]),
  };
}
