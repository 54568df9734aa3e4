// Webhooks over SQL, shared by all SQL engines. Secrets arrive sealed.
import type { Webhook, WebhookDelivery, WebhookStore } from "../../ports/webhooks.js";
import { holdCount } from "./capped.js";
import { sqlWebhookQueue } from "./webhook-queue.js";
import { sqlWebhookRemoval } from "./webhook-removal.js";
import { sqlWebhookSecrets } from "./webhook-secrets.js";
import { sqlWebhookStaging } from "./webhook-staging.js";
import { recordsText } from "./records.js";
import { numberOrNull, textOrNull, type SqlRow, type SqlSession } from "./session.js";

const eventFields = { event: "text" } as const;

/** The webhook store of one transaction. */
export function sqlWebhookStore(session: SqlSession): WebhookStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const columns = `"id", "tenant_id", "principal_id", "url", "events", "secret", "created_at"`;
  const owned = `"tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;

  return {
    async add({ id, tenant, principalId, url, events, secret, createdAt }) {
      await session.run(
        `INSERT INTO "opwright_webhooks" (${columns}) VALUES (${[1, 2, 3, 4, 5, 6, 7].map(at).join(", ")})`,
        [id, tenant, principalId, url, JSON.stringify(events), secret, createdAt],
      );
      await session.run(
        `INSERT INTO "opwright_webhook_events" ("tenant_id", "event", "webhook_id") ` +
          `SELECT ${dialect.typed("text", at(1))}, w."event", ${dialect.typed("uuid", at(2))} ` +
          `FROM ${dialect.records(eventFields, at(3))}`,
        [
          tenant,
          id,
          recordsText(
            eventFields,
            events.map((event) => ({ event })),
          ),
        ],
      );
    },

    async list({ tenant, principalId }) {
      const rows = await session.all(
        `SELECT ${columns} FROM "opwright_webhooks" WHERE ${owned} ORDER BY "id"`,
        [tenant, principalId],
      );
      return rows.map(readWebhook);
    },

    async count({ tenant, principalId }) {
      await holdCount(session, "webhooks", `${tenant} ${principalId}`);
      const [row] = await session.all(
        `SELECT count(*) AS "count" FROM "opwright_webhooks" WHERE ${owned}`,
        [tenant, principalId],
      );
      return Number(row?.["count"]);
    },

    async find({ tenant, principalId }, id) {
      const [row] = await session.all(
        `SELECT ${columns} FROM "opwright_webhooks" WHERE ${owned} AND "id" = ${at(3)}`,
        [tenant, principalId, id],
      );
      return row === undefined ? null : readWebhook(row);
    },

    async deliveries(webhookId, before, limit) {
      const earlier = before === undefined ? "" : ` AND "id" < ${at(2)}`;
      const rows = await session.all(
        `SELECT "id", "webhook_id", "event_id", "event", "created_at", "attempts", "due_at", "delivered_at", "status", "error" ` +
          `FROM "opwright_webhook_deliveries" WHERE "webhook_id" = ${at(1)}${earlier} ORDER BY "id" DESC LIMIT ${limit}`,
        before === undefined ? [webhookId] : [webhookId, before],
      );
      return rows.map(readDelivery);
    },

    async redeliver(webhookId, id, now) {
      const changed = await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(3)}, "attempts" = 0, "delivered_at" = NULL ` +
          `WHERE "webhook_id" = ${at(1)} AND "id" = ${at(2)}`,
        [webhookId, id, now],
      );
      return changed === 1;
    },

    ...sqlWebhookSecrets(session),
    ...sqlWebhookRemoval(session),
    ...sqlWebhookStaging(session),
    ...sqlWebhookQueue(session),
  };
}

function readWebhook(row: SqlRow): Webhook {
  return {
    id: String(row["id"]),
    tenant: String(row["tenant_id"]),
    principalId: String(row["principal_id"]),
    url: String(row["url"]),
    events: JSON.parse(String(row["events"])) as readonly string[],
    secret: String(row["secret"]),
    createdAt: Number(row["created_at"]),
  };
}

function readDelivery(row: SqlRow): WebhookDelivery {
  return {
    id: String(row["id"]),
    webhookId: String(row["webhook_id"]),
    eventId: String(row["event_id"]),
    event: String(row["event"]),
    createdAt: Number(row["created_at"]),
    attempts: Number(row["attempts"]),
    dueAt: numberOrNull(row["due_at"]),
    deliveredAt: numberOrNull(row["delivered_at"]),
    status: numberOrNull(row["status"]),
    error: textOrNull(row["error"]),
  };
}
