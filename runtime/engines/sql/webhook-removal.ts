// The end of webhooks: of one that its owner removes, and of all that somebody leaves behind.
import type { WebhookStore } from "../../ports/webhooks.js";
import { idField } from "../../query/fields.js";
import type { SqlSession } from "./session.js";

const eventField = { path: "event_id", type: "uuid", isColumn: true } as const;

/**
 * The methods of the webhook store that remove webhooks. The queue and pruning remove their
 * deliveries: there may be many.
 */
export function sqlWebhookRemoval(
  session: SqlSession,
): Pick<WebhookStore, "remove" | "removeOf" | "walkEnded" | "removeEvents"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  const owned = `"tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;

  return {
    async remove({ tenant, principalId }, id) {
      const removed = await session.run(
        `DELETE FROM "opwright_webhooks" WHERE ${owned} AND "id" = ${at(3)}`,
        [tenant, principalId, id],
      );
      if (removed === 0) return false;
      await session.run(
        `DELETE FROM "opwright_webhook_events" WHERE "tenant_id" = ${at(1)} AND "webhook_id" = ${at(2)}`,
        [tenant, id],
      );
      return true;
    },

    async walkEnded(after, limit) {
      const behind = after === null ? "" : ` AND "id" > ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "payload" FROM "opwright_webhook_payloads" WHERE "id" NOT IN (` +
          `SELECT "event_id" FROM "opwright_webhook_deliveries" WHERE "due_at" IS NOT NULL)` +
          `${behind} ORDER BY "id" LIMIT ${limit}`,
        after === null ? [] : [after],
      );
      return rows.map((row) => ({ id: String(row["id"]), payload: String(row["payload"]) }));
    },

    async removeEvents(ids) {
      const { dialect } = session;
      const list = [dialect.list(ids)];
      await session.run(
        `DELETE FROM "opwright_webhook_deliveries" WHERE ${dialect.isIn(eventField, at(1))}`,
        list,
      );
      await session.run(
        `DELETE FROM "opwright_webhook_payloads" WHERE ${dialect.isIn(idField, at(1))}`,
        list,
      );
    },

    async removeOf({ principalId, tenant }) {
      const within = tenant === null ? "" : ` AND "tenant_id" = ${at(2)}`;
      const given = tenant === null ? [principalId] : [principalId, tenant];
      const theirs = `FROM "opwright_webhooks" WHERE "principal_id" = ${at(1)}${within}`;
      await session.run(
        `DELETE FROM "opwright_webhook_events" WHERE "webhook_id" IN (SELECT "id" ${theirs})`,
        given,
      );
      await session.run(`DELETE ${theirs}`, given);
    },
  };
}
