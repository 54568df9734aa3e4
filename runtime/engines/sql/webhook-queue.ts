// Deliveries of webhooks as a queue: what is due is claimed in turns, so that one webhook with much to do holds up no other.
import type { ClaimedDelivery, WebhookStore } from "../../ports/webhooks.js";
import type { SqlRow, SqlSession } from "./session.js";

/** Due deliveries that one claim looks at: those beyond their webhook's share give way, so that it gets to the others. */
const lookedAt = 256;

/** What of the store is the queue's. */
export function sqlWebhookQueue(
  session: SqlSession,
): Pick<WebhookStore, "hasDue" | "claim" | "settle" | "prune"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const listed = (position: number): string =>
    `"id" IN (SELECT w."id" FROM ${dialect.records({ id: "uuid" }, at(position))})`;
  const ids = (list: readonly string[]): string => JSON.stringify(list.map((id) => ({ id })));

  /** What claimed deliveries are made of; one whose webhook has gone is not among them. */
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

    async claim({ now, leaseUntil, yieldUntil, limit, shareOf }) {
      const due = await session.all(
        `SELECT "id", "webhook_id" FROM "opwright_webhook_deliveries" WHERE "due_at" <= ${at(1)} ` +
          `ORDER BY "due_at", "id" LIMIT ${lookedAt}${dialect.skipLocked}`,
        [now],
      );
      const taken: string[] = [];
      const yielding: string[] = [];
      const left = new Map<string, number>();
      for (const { id, webhook_id: webhook } of due.map(readDue)) {
        const share = left.get(webhook) ?? shareOf(webhook);
        left.set(webhook, share - 1);
        if (share <= 0) yielding.push(id);
        else if (taken.length < limit) taken.push(id);
      }
      if (yielding.length > 0)
        await session.run(
          `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(1)} WHERE ${listed(2)}`,
          [yieldUntil, ids(yielding)],
        );
      if (taken.length === 0) return [];
      // A claimed one is due again when its lease ends: a process that dies with it holds up nothing for good.
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
      return claimed;
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

function readDue(row: SqlRow): { readonly id: string; readonly webhook_id: string } {
  return { id: String(row["id"]), webhook_id: String(row["webhook_id"]) };
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
