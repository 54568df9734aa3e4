// The queue of webhook deliveries. Webhooks take turns, so that one with many deliveries doesn't hold up the others.
import type { ClaimedDelivery, WebhookStore } from "../../ports/webhooks.js";
import { recordsText } from "./records.js";
import type { SqlRow, SqlSession } from "./session.js";

/** How many webhooks get a turn in one claim at most. */
const turns = 32;
/** An id that sorts before every webhook's id. */
const nobody = "00000000-0000-0000-0000-000000000000";
const listedFields = { id: "uuid" } as const;

/** The methods of the webhook store that work on the queue, within one transaction. */
export function sqlWebhookQueue(
  session: SqlSession,
): Pick<WebhookStore, "hasDue" | "claim" | "settle" | "prune"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const listed = (position: number): string =>
    `"id" IN (SELECT w."id" FROM ${dialect.records(listedFields, at(position))})`;
  const { waitingAfter, dueOf } = turnsOf(session);
  const ids = (list: readonly string[]): string =>
    recordsText(
      listedFields,
      list.map((id) => ({ id })),
    );

  /** Claimed deliveries with their webhooks and events. A delivery whose webhook or event was removed is left out. */
  const detailsOf = async (claimed: readonly string[]): Promise<readonly ClaimedDelivery[]> => {
    const rows = await session.all(
      `SELECT d."id", d."attempts", h."id" AS "webhook_id", h."url", h."secret", ` +
        `p."id" AS "event_id", p."name", p."tenant_id", p."payload", p."created_at" ` +
        `FROM "opwright_webhook_deliveries" d JOIN "opwright_webhooks" h ON h."id" = d."webhook_id" ` +
        `JOIN "opwright_webhook_payloads" p ON p."id" = d."event_id" WHERE d.${listed(1)}`,
      [ids(claimed)],
    );
    return rows.map(readClaimed);
  };

  return {
    async hasDue(now) {
      const text = `SELECT 1 AS "one" FROM "opwright_webhook_deliveries" WHERE "due_at" <= ${at(1)} LIMIT 1`;
      return (await session.all(text, [now])).length === 1;
    },

    async claim({ now, leaseUntil, limit, after, shareOf }) {
      const webhooks = await waitingAfter(after ?? nobody);
      const taken: string[] = [];
      let served = 0;
      for (const webhook of webhooks) {
        if (taken.length === limit) break;
        const share = Math.min(shareOf(webhook), limit - taken.length);
        if (share > 0) taken.push(...(await dueOf(webhook, now, share)));
        served += 1;
      }
      // Whoever had no turn because the limit was reached comes first in the next claim.
      const isRoundOver = served === webhooks.length && served < turns;
      const last = isRoundOver ? null : (webhooks[served - 1] ?? after);
      if (taken.length === 0) return { claimed: [], last };
      // A claimed delivery is due again when its lease ends, so a process that dies doesn't hold it up for good.
      await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(1)}, "attempts" = "attempts" + 1 WHERE ${listed(2)}`,
        [leaseUntil, ids(taken)],
      );
      const claimed = await detailsOf(taken);
      const found = new Set(claimed.map(({ id }) => id));
      const gone = taken.filter((id) => !found.has(id));
      if (gone.length > 0)
        await session.run(`DELETE FROM "opwright_webhook_deliveries" WHERE ${listed(1)}`, [
          ids(gone),
        ]);
      return { claimed, last };
    },

    async settle(id, { at: now, isDelivered, dueAt, status, error }) {
      await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(2)}, "delivered_at" = ${at(3)}, "status" = ${at(4)}, "error" = ${at(5)} ` +
          `WHERE "id" = ${at(1)}`,
        [id, dueAt, isDelivered ? now : null, status, error],
      );
    },

    async prune(before, limit) {
      let mayHaveMore = false;
      for (const table of ["opwright_webhook_deliveries", "opwright_webhook_payloads"]) {
        const old = `"${table}" o WHERE o."created_at" < ${at(1)} ORDER BY o."created_at" LIMIT ${limit}`;
        const text = `DELETE FROM "${table}" WHERE ${dialect.isRowOf("o", old)}`;
        mayHaveMore = (await session.run(text, [before])) === limit || mayHaveMore;
      }
      return mayHaveMore;
    },
  };
}

/** The queries that find whose turn it is, and which deliveries of a webhook are due. */
function turnsOf(session: SqlSession) {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  /** Webhooks with pending deliveries, in turn. Each is found by one step in the index, however many deliveries it has. */
  const waitingAfter = async (webhook: string): Promise<readonly string[]> => {
    const next = (behind: string): string =>
      `(SELECT d."webhook_id" FROM "opwright_webhook_deliveries" d ` +
      `WHERE d."due_at" IS NOT NULL AND d."webhook_id" > ${behind} ORDER BY d."webhook_id" LIMIT 1)`;
    const rows = await session.all(
      `WITH RECURSIVE t("id", "turn") AS (SELECT ${next(at(1))}, 1 ` +
        `UNION ALL SELECT ${next(`t."id"`)}, t."turn" + 1 FROM t WHERE t."id" IS NOT NULL AND t."turn" < ${turns}) ` +
        `SELECT "id" FROM t WHERE "id" IS NOT NULL`,
      [webhook],
    );
    return rows.map((row) => String(row["id"]));
  };

  const dueOf = async (webhook: string, now: number, most: number): Promise<readonly string[]> => {
    const rows = await session.all(
      `SELECT "id" FROM "opwright_webhook_deliveries" WHERE "webhook_id" = ${at(1)} AND "due_at" <= ${at(2)} ` +
        `ORDER BY "due_at", "id" LIMIT ${most}${dialect.skipLocked}`,
      [webhook, now],
    );
    return rows.map((row) => String(row["id"]));
  };

  return { waitingAfter, dueOf };
}

function readClaimed(row: SqlRow): ClaimedDelivery {
  return {
    id: String(row["id"]),
    attempt: Number(row["attempts"]),
    webhook: {
      id: String(row["webhook_id"]),
      url: String(row["url"]),
      secret: String(row["secret"]),
    },
    event: {
      id: String(row["event_id"]),
      name: String(row["name"]),
      tenant: String(row["tenant_id"]),
      payload: String(row["payload"]),
      createdAt: Number(row["created_at"]),
    },
  };
}
