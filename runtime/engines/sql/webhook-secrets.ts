// The sealed secrets of webhooks, one after the other.
import type { WebhookStore } from "../../ports/webhooks.js";
import type { SqlSession } from "./session.js";

/** The methods of the webhook store by which secrets are sealed anew. */
export function sqlWebhookSecrets(
  session: SqlSession,
): Pick<WebhookStore, "walkSecrets" | "setSecret"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async walkSecrets(after, limit) {
      const behind = after === null ? "" : ` WHERE "id" > ${at(1)}`;
      const rows = await session.all(
        `SELECT "id", "secret" FROM "opwright_webhooks"${behind} ORDER BY "id" LIMIT ${limit}`,
        after === null ? [] : [after],
      );
      return rows.map((row) => ({ id: String(row["id"]), secret: String(row["secret"]) }));
    },

    async setSecret({ id, secret }, sealed) {
      await session.run(
        `UPDATE "opwright_webhooks" SET "secret" = ${at(3)} WHERE "id" = ${at(1)} AND "secret" = ${at(2)}`,
        [id, secret, sealed],
      );
    },
  };
}
