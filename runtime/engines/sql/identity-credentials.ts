// Logins and passwords of principals over SQL.
import type { IdentityStore } from "../../ports/identity.js";
import { IndexViolation } from "./index-violation.js";
import type { SqlSession } from "./session.js";

/** The methods of the identity store that change logins and passwords, within one transaction. */
export function sqlIdentityCredentials(
  session: SqlSession,
): Pick<IdentityStore, "setLogin" | "setPassword" | "replacePassword"> {
  const at = (position: number): string => session.dialect.placeholder(position);

  return {
    async setLogin(principalId, login) {
      try {
        await session.run(
          `UPDATE "opwright_principals" SET "login" = ${at(2)} WHERE "id" = ${at(1)}`,
          [principalId, login],
        );
        return true;
      } catch (error) {
        if (error instanceof IndexViolation) return false;
        throw error;
      }
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
  };
}
