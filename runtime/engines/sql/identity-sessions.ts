// Sessions over SQL: who is signed in, and the check of a session on every request.
import type { IdentityStore, Session } from "../../ports/identity.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";
import { lockPrincipal } from "./principal-lock.js";
import { idField } from "../../query/fields.js";
import { readTrust, trustQuery } from "./trust.js";
import { epochMillis } from "../../ports/ambient.js";

const sessionColumns = `"id", "principal_id", "actor_id", "tenant_id", "created_at"`;

/** The methods of the identity store that deal with sessions, within one transaction. */
export function sqlIdentitySessions(
  session: SqlSession,
): Pick<
  IdentityStore,
  | "addSession"
  | "endSession"
  | "endSessions"
  | "holdSession"
  | "listSessions"
  | "rotateSession"
  | "trust"
  | "trusts"
> {
  const at = (position: number): string => session.dialect.placeholder(position);

  return {
    async addSession({ id, principalId, actorId, tenant, createdAt }) {
      await session.runPipelined(
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

    async endSessions(principalId, now, kept) {
      await lockPrincipal(session, principalId);
      const others = kept === undefined ? "" : ` AND "id" <> ${at(3)}`;
      await session.run(
        `UPDATE "opwright_sessions" SET "ended_at" = ${at(2)} ` +
          `WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL${others}`,
        [principalId, now, ...(kept === undefined ? [] : [kept])],
      );
    },

    // Writing the row back unchanged locks it on engines with several writers.
    async holdSession(principalId, sessionId) {
      if (!(await lockPrincipal(session, principalId))) return false;
      const held = await session.run(
        `UPDATE "opwright_sessions" SET "created_at" = "created_at" ` +
          `WHERE "id" = ${at(1)} AND "principal_id" = ${at(2)} AND "ended_at" IS NULL`,
        [sessionId, principalId],
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

    async rotateSession(sessionId, now) {
      const [row] = await session.all(
        `UPDATE "opwright_sessions" SET "generation" = "generation" + 1, "rotated_at" = ${at(2)} ` +
          `WHERE "id" = ${at(1)} RETURNING "generation"`,
        [sessionId, now],
      );
      return Number(row?.["generation"] ?? 0);
    },

    async trust(sessionId) {
      const text = trustQuery("opwright_sessions", `c."id" = ${at(1)}`);
      const [row] = await session.all(text, [sessionId]);
      return row === undefined ? null : readTrust(row, epochMillis());
    },

    async trusts(sessionIds) {
      const isAmong = `c.${session.dialect.isIn(idField, at(1))}`;
      const text = trustQuery("opwright_sessions", isAmong);
      const rows = await session.all(text, [session.dialect.list(sessionIds)]);
      const trusts = rows.map((row) => readTrust(row, epochMillis()));
      return new Map(trusts.map((trust) => [trust.credentialId, trust]));
    },
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
