// Removes expired and surplus rows of identities in batches. Every statement uses an index and
// touches a bounded number of rows.
import { holdCount } from "./capped.js";
import type { IdentityStore } from "../../ports/identity.js";
import { idField } from "../../query/fields.js";
import type { SqlRow, SqlSession } from "./session.js";

/** How many sessions are removed at a time: each may have many refresh tokens. */
const sessionsAtOnce = 100;
const tokensAtOnce = 100_000;

type Pruning = Pick<IdentityStore, "limitSessions" | "limitRefreshTokens" | "prune">;

/**
 * The methods of the identity store that remove expired and surplus rows, within one transaction.
 */
export function sqlIdentityPrune(session: SqlSession): Pruning {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  /** A statement that removes rows of a table; `which` selects them by the alias `t`. */
  const removed = (table: string, which: string): string =>
    `DELETE FROM "opwright_${table}" WHERE ${dialect.isRowOf("t", `"opwright_${table}" t WHERE ${which}`)}`;

  /**
   * Removes sessions and their refresh tokens; false if `limit` tokens or more were in the way and
   * the sessions are left.
   */
  const removeSessions = async (ids: readonly string[], limit: number): Promise<boolean> => {
    const list = [dialect.list(ids)];
    const tokens = await session.run(
      removed("refresh_tokens", `${dialect.isIn(sessionField, at(1))} LIMIT ${limit}`),
      list,
    );
    if (tokens === limit) return false;
    await session.run(
      `DELETE FROM "opwright_sessions" WHERE ${dialect.isIn(idField, at(1))}`,
      list,
    );
    return true;
  };

  /**
   * Removes expired refresh tokens, and sessions that have none left. Returns whether there may be
   * more.
   */
  const pruneTokens = async (before: number, limit: number): Promise<boolean> => {
    const tokens = await session.all(
      `${removed("refresh_tokens", `t."expires_at" < ${at(1)} ORDER BY t."expires_at" LIMIT ${limit}`)} RETURNING "session_id"`,
      [before],
    );
    if (tokens.length === 0) return false;
    const sessions = new Set(tokens.map((row) => String(row["session_id"])));
    await session.run(
      `DELETE FROM "opwright_sessions" WHERE ${dialect.isIn(idField, at(2))} AND "created_at" < ${at(1)} AND (` +
        `SELECT 1 FROM "opwright_refresh_tokens" r WHERE r."session_id" = "opwright_sessions"."id" LIMIT 1) IS NULL`,
      [before, dialect.list([...sessions])],
    );
    return tokens.length === limit;
  };

  /** Removes sessions that were ended before a time. Returns whether there may be more. */
  const pruneEnded = async (before: number, limit: number): Promise<boolean> => {
    const ended = await session.all(
      `SELECT "id" FROM "opwright_sessions" WHERE "ended_at" < ${at(1)} ORDER BY "ended_at" LIMIT ${sessionsAtOnce}`,
      [before],
    );
    if (ended.length === 0) return false;
    return !(await removeSessions(ended.map(idOf), limit)) || ended.length === sessionsAtOnce;
  };

  /** Removes expired rows of a table. Returns whether there may be more. */
  const pruneExpired = async (table: string, before: number, limit: number): Promise<boolean> => {
    const expired = await session.run(
      removed(table, `t."expires_at" < ${at(1)} ORDER BY t."expires_at" LIMIT ${limit}`),
      [before],
    );
    return expired === limit;
  };

  return {
    async limitSessions(principalId, most) {
      await holdCount(session, "sessions", principalId);
      const beyond = await session.all(
        `SELECT "id", "ended_at" FROM "opwright_sessions" WHERE "principal_id" = ${at(1)} ` +
          `ORDER BY CASE WHEN "ended_at" IS NULL THEN 0 ELSE 1 END, "created_at" DESC, "id" DESC ` +
          `LIMIT ${sessionsAtOnce} OFFSET ${most}`,
        [principalId],
      );
      if (beyond.length === 0) return false;
      await removeSessions(beyond.map(idOf), tokensAtOnce);
      return beyond.some((row) => row["ended_at"] === null);
    },

    async limitRefreshTokens(sessionId, most) {
      await session.run(
        removed(
          "refresh_tokens",
          `t."session_id" = ${at(1)} AND t."used_at" IS NOT NULL ` +
            `ORDER BY t."expires_at" DESC LIMIT ${tokensAtOnce} OFFSET ${most}`,
        ),
        [sessionId],
      );
    },

    async prune(before, limit) {
      const tokens = await pruneTokens(before, limit);
      const ended = await pruneEnded(before, limit);
      const resets = await pruneExpired("reset_tokens", before, limit);
      const signUps = await pruneExpired("sign_ups", before, limit);
      return tokens || ended || resets || signUps;
    },
  };
}

const sessionField = { path: "session_id", type: "uuid", isColumn: true } as const;

function idOf(row: SqlRow): string {
  return String(row["id"]);
}
