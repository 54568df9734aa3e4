// Events of the outbox that people or an erasure look at, over SQL.
import type { OutboxStore } from "../../ports/outbox.js";
import { textOrNull, type SqlSession } from "./session.js";

/** The methods of the outbox store that list events, within one transaction. */
export function sqlOutboxLists(session: SqlSession): Pick<OutboxStore, "walkDead" | "listDead"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async walkDead(after, limit) {
      const behind = after === null ? "" : ` AND "id" > ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "payload" FROM "opwright_outbox" WHERE "dead_at" IS NOT NULL${behind} ORDER BY "id" LIMIT ${limit}`,
        after === null ? [] : [after],
      );
      return rows.map((row) => ({ id: String(row["id"]), payload: String(row["payload"]) }));
    },

    async listDead(name, limit) {
      const named = name === null ? "" : ` AND "name" = ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "name", "tenant_id", "created_at", "dead_at", "attempts", "last_error" FROM "opwright_outbox" ` +
          `WHERE "dead_at" IS NOT NULL${named} ORDER BY "dead_at" DESC, "id" DESC LIMIT ${limit}`,
        name === null ? [] : [name],
      );
      return rows.map((row) => ({
        id: String(row["id"]),
        name: String(row["name"]),
        tenant: String(row["tenant_id"]),
        createdAt: Number(row["created_at"]),
        deadAt: Number(row["dead_at"]),
        attempts: Number(row["attempts"]),
        reason: textOrNull(row["last_error"]) ?? "",
      }));
    },
  };
}
