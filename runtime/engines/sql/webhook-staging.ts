// Queues an integration event for webhooks. Its payload, which arrives sealed, is stored once for
// all of them.
import { uuidv7 } from "../../ports/uuid.js";
import type { WebhookStore } from "../../ports/webhooks.js";
import { recordsText } from "./records.js";
import type { SqlSession } from "./session.js";
import { ownerStands } from "./standing.js";

const eventField = { path: "event", type: "string", isColumn: true } as const;
const deliveryFields = { id: "uuid", webhook_id: "uuid" } as const;

/** The methods of the webhook store that queue events, within one transaction. */
export function sqlWebhookStaging(
  session: SqlSession,
): Pick<WebhookStore, "stage" | "subscribers"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  return {
    async subscribers(tenant, events) {
      const rows = await session.all(
        `SELECT DISTINCT w."id", w."principal_id" FROM "opwright_webhook_events" e ` +
          `JOIN "opwright_webhooks" w ON w."id" = e."webhook_id" ` +
          `WHERE e."tenant_id" = ${at(1)} AND ${dialect.isIn(eventField, at(2))} AND ${ownerStands}`,
        [tenant, dialect.list(events)],
      );
      return rows.map((row) => ({
        id: String(row["id"]),
        tenant,
        principalId: String(row["principal_id"]),
      }));
    },

    async stage({ id, name, tenant, payload, shape, traceparent, createdAt }, ...to) {
      if (to.length === 0) return [];
      await session.runPipelined(
        `INSERT INTO "opwright_webhook_payloads" ("id", "name", "tenant_id", "payload", "created_at", "shape", "traceparent") ` +
          `VALUES (${[1, 2, 3, 4, 5, 6, 7].map(at).join(", ")})`,
        [id, name, tenant, payload, createdAt, shape, traceparent],
      );
      const rows = to.map((webhook) => ({ id: uuidv7(), webhook_id: webhook.id }));
      await session.runPipelined(
        `INSERT INTO "opwright_webhook_deliveries" ("id", "webhook_id", "event_id", "event", "created_at", "due_at", "attempts") ` +
          `SELECT w."id", w."webhook_id", ${dialect.typed("uuid", at(1))}, ${dialect.typed("text", at(2))}, ` +
          `${dialect.typed("integer", at(3))}, ${dialect.typed("integer", at(3))}, 0 ` +
          `FROM ${dialect.records(deliveryFields, at(4))}`,
        [id, name, createdAt, recordsText(deliveryFields, rows)],
      );
      return rows.map((row) => row.id);
    },
  };
}
