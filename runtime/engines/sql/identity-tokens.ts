// Refresh and reset tokens over SQL, found by their digests.
import type { IdentityStore } from "../../ports/identity.js";
import type { SqlSession } from "./session.js";

/** The methods of the identity store that deal with these tokens, within one transaction. */
export function sqlIdentityTokens(
  session: SqlSession,
): Pick<
  IdentityStore,
  | "findRefreshToken"
  | "addRefreshToken"
  | "useRefreshToken"
  | "putResetToken"
  | "findResetLogin"
  | "takeResetToken"
  | "dropResetToken"
> {
  const at = (position: number): string => session.dialect.placeholder(position);
  const outstanding = (digests: readonly string[]): string =>
    `"expires_at" > ${at(1)} AND "digest" IN (${digests.map((_digest, index) => at(index + 2)).join(", ")})`;

  return {
    async findRefreshToken(digest) {
      const [row] = await session.all(
        `SELECT "session_id", "expires_at", "used_at" FROM "opwright_refresh_tokens" WHERE "digest" = ${at(1)}`,
        [digest],
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
      await session.runPipelined(
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
  };
}
