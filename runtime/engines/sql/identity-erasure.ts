// Everything that tells of one principal in the tables of identity, over SQL.
import type { IdentityStore } from "../../ports/identity.js";
import type { SqlSession } from "./session.js";

/** The method of the identity store that erases a principal, within one transaction. */
export function sqlIdentityErasure(session: SqlSession): Pick<IdentityStore, "erase"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async erase(principalId) {
      const theirs = `("principal_id" = ${at(1)} OR "actor_id" = ${at(1)})`;
      const removed = (from: string, which: string): Promise<number> =>
        session.run(`DELETE FROM "${from}" WHERE ${which}`, [principalId]);
      await removed(
        "opwright_refresh_tokens",
        `"session_id" IN (SELECT "id" FROM "opwright_sessions" WHERE ${theirs})`,
      );
      const sessions = await removed("opwright_sessions", theirs);
      const keys = await removed("opwright_api_keys", theirs);
      const memberships = await removed("opwright_memberships", `"principal_id" = ${at(1)}`);
      await removed("opwright_grants", `"subject" = ${at(1)}`);
      const subjects = await removed("opwright_subjects", `"principal_id" = ${at(1)}`);
      await removed("opwright_reset_tokens", `"principal_id" = ${at(1)}`);
      const signUps = await removed(
        "opwright_sign_ups",
        `"login" IN (SELECT "login" FROM "opwright_principals" WHERE "id" = ${at(1)})`,
      );
      // Typed logins are folded to lower case, so nobody can have this one, or sign in with it.
      const accounts = await session.run(
        `UPDATE "opwright_principals" SET "login" = ${at(2)}, "password_hash" = '', "is_active" = ${at(3)} ` +
          `WHERE "id" = ${at(1)} AND "login" <> ${at(2)}`,
        [principalId, `Erased ${principalId}`, false],
      );
      return { accounts, sessions, api_keys: keys, memberships, subjects, sign_ups: signUps };
    },
  };
}
