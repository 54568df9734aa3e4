// The end of webhooks: of one that its owner removes, and of all that somebody leaves behind.
import type { WebhookStore } from "../../ports/webhooks.js";
import type { SqlSession } from "./session.js";

/**
 * The methods of the webhook store that remove webhooks. The queue and pruning remove their
 * deliveries: there may be many.
 */
export function sqlWebhookRemoval(
  session: SqlSession,
): Pick<WebhookStore, "remove" | "removeOf" | "walkEvents" | "removeEvent"> {
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

    async walkEvents(after, limit) {
      const behind = after === null ? "" : ` WHERE "id" > ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "payload" FROM "opwright_webhook_payloads"${behind} ORDER BY "id" LIMIT ${limit}`,
        after === null ? [] : [after],
      );
      return rows.map((row) => ({ id: String(row["id"]), payload: String(row["payload"]) }));
    },

    async removeEvent(id) {
      await session.run(`DELETE FROM "opwright_webhook_deliveries" WHERE "event_id" = ${at(1)}`, [
        id,
      ]);
      await session.run(`DELETE FROM "opwright_webhook_payloads" WHERE "id" = ${at(1)}`, [id]);
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
