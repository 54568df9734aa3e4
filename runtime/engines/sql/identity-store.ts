// Identities over SQL, shared by all SQL engines.
import type { IdentityStore } from "../../ports/identity.js";
import type { SqlRow, SqlSession } from "./session.js";
import { sqlIdentityCredentials } from "./identity-credentials.js";
import { sqlIdentityErasure } from "./identity-erasure.js";
import { sqlIdentityPrune } from "./identity-prune.js";
import { sqlIdentitySessions } from "./identity-sessions.js";
import { sqlIdentitySignUps } from "./identity-sign-ups.js";
import { sqlIdentitySubjects } from "./identity-subjects.js";
import { sqlIdentityTokens } from "./identity-tokens.js";
import { lockPrincipal } from "./principal-lock.js";
import { listPrincipals, principalColumns, readPrincipal } from "./principal-row.js";

/** The identity store of one transaction. */
export function sqlIdentityStore(session: SqlSession): IdentityStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const first = async (
    text: string,
    ...parameters: readonly string[]
  ): Promise<SqlRow | undefined> => (await session.all(text, parameters))[0];

  const sessions = sqlIdentitySessions(session);
  const tokens = sqlIdentityTokens(session);
  const endKeys: IdentityStore["endKeys"] = async (principalId, now) => {
    await session.run(
      `UPDATE "opwright_api_keys" SET "ended_at" = ${at(2)} WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL`,
      [principalId, now],
    );
  };

  const suspend: IdentityStore["suspend"] = async (principalId, now) => {
    const changed = await session.run(
      `UPDATE "opwright_principals" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)}`,
      [principalId, false],
    );
    // Those with which it acts for others end as well: it would act again if it came back.
    for (const table of ["opwright_sessions", "opwright_api_keys"])
      await session.run(
        `UPDATE "${table}" SET "ended_at" = ${at(2)} ` +
          `WHERE ("principal_id" = ${at(1)} OR "actor_id" = ${at(1)}) AND "ended_at" IS NULL`,
        [principalId, now],
      );
    await tokens.dropResetToken(principalId);
    return changed === 1;
  };

  return {
    async findPrincipalByLogin(login) {
      const text = `SELECT ${principalColumns} FROM "opwright_principals" WHERE "login" = ${at(1)}`;
      return readPrincipal(await first(text, login));
    },

    async findPrincipal(id) {
      const text = `SELECT ${principalColumns} FROM "opwright_principals" WHERE "id" = ${at(1)}`;
      return readPrincipal(await first(text, id));
    },

    listPrincipals: (after, limit) => listPrincipals(session, after, limit),
    holdPrincipal: (id) => lockPrincipal(session, id),

    async addPrincipal({ id, login, passwordHash, isActive }) {
      const added = await session.run(
        `INSERT INTO "opwright_principals" (${principalColumns}) VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}) ` +
          `ON CONFLICT ("login") DO NOTHING`,
        [id, login, passwordHash, isActive],
      );
      return added === 1;
    },

    suspend,

    async deactivate(principalId, now) {
      const changed = await suspend(principalId, now);
      for (const [table, column] of [
        ["opwright_memberships", "principal_id"],
        ["opwright_grants", "subject"],
      ])
        await session.run(`DELETE FROM "${table}" WHERE "${column}" = ${at(1)}`, [principalId]);
      return changed;
    },

    endKeys,

    async reactivate(principalId) {
      const changed = await session.run(
        `UPDATE "opwright_principals" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)}`,
        [principalId, true],
      );
      return changed === 1;
    },

    ...sqlIdentityCredentials(session),
    ...sessions,
    ...sqlIdentitySubjects(session),
    ...tokens,
    ...sqlIdentitySignUps(session),
    ...sqlIdentityPrune(session),
    ...sqlIdentityErasure(session),
  };
}
