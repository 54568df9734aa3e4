// Registrations over SQL that wait for their token to come back.
import type { IdentityStore } from "../../ports/identity.js";
import type { SqlSession } from "./session.js";

/** The methods of the identity store that deal with registrations, within one transaction. */
export function sqlIdentitySignUps(
  session: SqlSession,
): Pick<IdentityStore, "putSignUp" | "renewSignUp" | "hasSignUp" | "takeSignUp"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  const outstanding = (digests: readonly string[]): string =>
    `"expires_at" > ${at(1)} AND "digest" IN (${digests.map((_digest, index) => at(index + 2)).join(", ")})`;

  return {
    async putSignUp({ login, passwordHash, profile, digest, expiresAt }) {
      const columns = ["password_hash", "profile", "digest", "expires_at"];
      await session.run(
        `INSERT INTO "opwright_sign_ups" ("login", ${columns.map((name) => `"${name}"`).join(", ")}) ` +
          `VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}) ON CONFLICT ("login") DO UPDATE SET ` +
          columns.map((name) => `"${name}" = excluded."${name}"`).join(", "),
        [login, passwordHash, profile, digest, expiresAt],
      );
    },

    async renewSignUp(login, { digest, expiresAt }, now) {
      const renewed = await session.run(
        `UPDATE "opwright_sign_ups" SET "digest" = ${at(2)}, "expires_at" = ${at(3)} ` +
          `WHERE "login" = ${at(1)} AND "expires_at" > ${at(4)}`,
        [login, digest, expiresAt, now],
      );
      return renewed === 1;
    },

    async hasSignUp(digests, now) {
      const text = `SELECT 1 AS "found" FROM "opwright_sign_ups" WHERE ${outstanding(digests)}`;
      return (await session.all(text, [now, ...digests])).length > 0;
    },

    async takeSignUp(digests, now) {
      const [row] = await session.all(
        `DELETE FROM "opwright_sign_ups" WHERE ${outstanding(digests)} RETURNING "login", "password_hash", "profile"`,
        [now, ...digests],
      );
      if (row === undefined) return null;
      return {
        login: String(row["login"]),
        passwordHash: String(row["password_hash"]),
        profile: String(row["profile"]),
      };
    },
  };
}
