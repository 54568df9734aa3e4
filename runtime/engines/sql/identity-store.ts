// Identities over SQL, one for all SQL engines.
import type { IdentityStore, Principal, Session } from "../../authn/port.js";
import { isTrue, textOrNull, type SqlRow, type SqlSession } from "./session.js";
import { sqlIdentityPrune } from "./identity-prune.js";
import { readTrust, trustQuery } from "./trust.js";

const principalColumns = `"id", "login", "password_hash", "is_active"`;
const sessionColumns = `"id", "principal_id", "actor_id", "tenant_id", "created_at"`;

/** The identity store of one transaction. */
export function sqlIdentityStore(session: SqlSession): IdentityStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const first = async (
    text: string,
    ...parameters: readonly string[]
  ): Promise<SqlRow | undefined> => (await session.all(text, parameters))[0];

  const outstanding = (digests: readonly string[]): string =>
    `"expires_at" > ${at(1)} AND "digest" IN (${digests.map((_digest, index) => at(index + 2)).join(", ")})`;

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

    async replacePassword(principalId, expected, passwordHash) {
      const replaced = await session.run(
        `UPDATE "opwright_principals" SET "password_hash" = ${at(3)} ` +
          `WHERE "id" = ${at(1)} AND "password_hash" = ${at(2)} AND "is_active" = ${at(4)}`,
        [principalId, expected, passwordHash, true],
      );
      return replaced === 1;
    },

    async deactivate(principalId, now) {
      const changed = await session.run(
        `UPDATE "opwright_principals" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)}`,
        [principalId, false],
      );
      await this.endSessions(principalId, now);
      await session.run(
        `UPDATE "opwright_api_keys" SET "ended_at" = ${at(2)} WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL`,
        [principalId, now],
      );
      await this.dropResetToken(principalId);
      return changed === 1;
    },

    async addSession({ id, principalId, actorId, tenant, createdAt }) {
      await session.run(
        `INSERT INTO "opwright_sessions" (${sessionColumns}) VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)})`,
        [id, principalId, actorId, tenant, createdAt],
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

    // Writing the row back locks it on engines that write in parallel.
    async holdSession(sessionId) {
      const held = await session.run(
        `UPDATE "opwright_sessions" SET "created_at" = "created_at" WHERE "id" = ${at(1)} AND "ended_at" IS NULL`,
        [sessionId],
      );
      return held === 1;
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
      const row = await first(trustQuery("opwright_sessions", "id", at(1)), sessionId);
      return row === undefined ? null : readTrust(row, Date.now());
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

    async putResetToken({ principalId, digest, expiresAt }) {
      await session.run(
        `INSERT INTO "opwright_reset_tokens" ("principal_id", "digest", "expires_at") VALUES (${at(1)}, ${at(2)}, ${at(3)}) ` +
          `ON CONFLICT ("principal_id") DO UPDATE SET "digest" = excluded."digest", "expires_at" = excluded."expires_at"`,
        [principalId, digest, expiresAt],
      );
    },

    async findResetLogin(digests, now) {
      const token = `SELECT "principal_id" FROM "opwright_reset_tokens" WHERE ${outstanding(digests)}`;
      const text = `SELECT "login" FROM "opwright_principals" WHERE "id" = (${token})`;
      const [row] = await session.all(text, [now, ...digests]);
      return row === undefined ? null : String(row["login"]);
    },

    async takeResetToken(digests, now) {
      const [row] = await session.all(
        `DELETE FROM "opwright_reset_tokens" WHERE ${outstanding(digests)} RETURNING "principal_id"`,
        [now, ...digests],
      );
      return row === undefined ? null : String(row["principal_id"]);
    },

    async dropResetToken(principalId) {
      await session.run(`DELETE FROM "opwright_reset_tokens" WHERE "principal_id" = ${at(1)}`, [
        principalId,
      ]);
    },

    ...sqlIdentityPrune(session),
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
    actorId: textOrNull(row["actor_id"]),
    tenant: textOrNull(row["tenant_id"]),
    createdAt: Number(row["created_at"]),
  };
}
