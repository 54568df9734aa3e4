// Identities over SQL, one for all SQL engines.
import type { IdentityStore, Principal, Session } from "../../authn/port.js";
import { isTrue, type SqlRow, type SqlSession } from "./session.js";

const principalColumns = `"id", "login", "password_hash", "is_active"`;
const sessionColumns = `"id", "principal_id", "tenant_id", "created_at"`;

/** The identity store of one transaction. */
export function sqlIdentityStore(session: SqlSession): IdentityStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const first = async (
    text: string,
    ...parameters: readonly string[]
  ): Promise<SqlRow | undefined> => (await session.all(text, parameters))[0];

  return {
    async findPrincipalByLogin(login) {
      const text = `SELECT ${principalColumns} FROM "opwright_principals" WHERE "login" = ${at(1)}`;
      return readPrincipal(await first(text, login));
    },

    async findPrincipal(id) {
      const text = `SELECT ${principalColumns} FROM "opwright_principals" WHERE "id" = ${at(1)}`;
      return readPrincipal(await first(text, id));
    },

    async addPrincipal({ id, login, passwordHash, isActive }) {
      const added = await session.run(
        `INSERT INTO "opwright_principals" (${principalColumns}) VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}) ` +
          `ON CONFLICT ("login") DO NOTHING`,
        [id, login, passwordHash, isActive],
      );
      return added === 1;
    },

    async setPassword(principalId, passwordHash) {
      await session.run(
        `UPDATE "opwright_principals" SET "password_hash" = ${at(2)} WHERE "id" = ${at(1)}`,
        [principalId, passwordHash],
      );
    },

    async deactivate(principalId, now) {
      const changed = await session.run(
        `UPDATE "opwright_principals" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)}`,
        [principalId, false],
      );
      await this.endSessions(principalId, now);
      return changed === 1;
    },

    async addSession({ id, principalId, tenant, createdAt }) {
      await session.run(
        `INSERT INTO "opwright_sessions" (${sessionColumns}) VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)})`,
        [id, principalId, tenant, createdAt],
      );
    },

    async endSession(principalId, sessionId, now) {
      const ended = await session.run(
        `UPDATE "opwright_sessions" SET "ended_at" = ${at(3)} ` +
          `WHERE "id" = ${at(1)} AND "principal_id" = ${at(2)} AND "ended_at" IS NULL`,
        [sessionId, principalId, now],
      );
      return ended === 1;
    },

    async endSessions(principalId, now) {
      await session.run(
        `UPDATE "opwright_sessions" SET "ended_at" = ${at(2)} WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL`,
        [principalId, now],
      );
    },

    async listSessions(principalId) {
      const rows = await session.all(
        `SELECT ${sessionColumns} FROM "opwright_sessions" WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL ` +
          `ORDER BY "created_at", "id"`,
        [principalId],
      );
      return rows.map(readSession);
    },

    async trust(sessionId) {
      const row = await first(
        `SELECT s."principal_id", s."tenant_id", s."ended_at", p."is_active", t."is_active" AS "tenant_is_active", ` +
          `m."principal_id" AS "member" FROM "opwright_sessions" s ` +
          `JOIN "opwright_principals" p ON p."id" = s."principal_id" ` +
          `LEFT JOIN "opwright_tenants" t ON t."id" = s."tenant_id" ` +
          `LEFT JOIN "opwright_memberships" m ON m."tenant_id" = s."tenant_id" AND m."principal_id" = s."principal_id" ` +
          `WHERE s."id" = ${at(1)}`,
        sessionId,
      );
      if (row === undefined) return null;
      return {
        principalId: String(row["principal_id"]),
        tenant: textOrNull(row["tenant_id"]),
        isSessionLive: row["ended_at"] === null,
        isPrincipalActive: isTrue(row["is_active"]),
        isTenantActive: row["tenant_id"] === null || isTrue(row["tenant_is_active"]),
        isMember: row["tenant_id"] === null || row["member"] !== null,
      };
    },

    async findRefreshToken(digest) {
      const row = await first(
        `SELECT "session_id", "expires_at", "used_at" FROM "opwright_refresh_tokens" WHERE "digest" = ${at(1)}`,
        digest,
      );
      if (row === undefined) return null;
      return {
        digest,
        sessionId: String(row["session_id"]),
        expiresAt: Number(row["expires_at"]),
        usedAt: row["used_at"] === null ? null : Number(row["used_at"]),
      };
    },

    async addRefreshToken({ digest, sessionId, expiresAt, usedAt }) {
      await session.run(
        `INSERT INTO "opwright_refresh_tokens" ("digest", "session_id", "expires_at", "used_at") ` +
          `VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}) ON CONFLICT ("digest") DO NOTHING`,
        [digest, sessionId, expiresAt, usedAt],
      );
    },

    async useRefreshToken(digest, now) {
      const used = await session.run(
        `UPDATE "opwright_refresh_tokens" SET "used_at" = ${at(2)} WHERE "digest" = ${at(1)} AND "used_at" IS NULL`,
        [digest, now],
      );
      return used === 1;
    },
  };
}

function readPrincipal(row: SqlRow | undefined): Principal | null {
  if (row === undefined) return null;
  return {
    id: String(row["id"]),
    login: String(row["login"]),
    passwordHash: String(row["password_hash"]),
    isActive: isTrue(row["is_active"]),
  };
}

function readSession(row: SqlRow): Session {
  return {
    id: String(row["id"]),
    principalId: String(row["principal_id"]),
    tenant: textOrNull(row["tenant_id"]),
    createdAt: Number(row["created_at"]),
  };
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
