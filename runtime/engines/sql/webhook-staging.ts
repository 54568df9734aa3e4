// Queues an integration event for webhooks. Its payload, which arrives sealed, is stored once for all of them.
import { uuidv7 } from "../../contract/uuid.js";
import type { WebhookStore } from "../../ports/webhooks.js";
import { recordsText } from "./records.js";
import type { SqlSession } from "./session.js";

const deliveryFields = { id: "uuid", webhook_id: "uuid" } as const;

/** The method of the webhook store that queues events, within one transaction. */
export function sqlWebhookStaging(session: SqlSession): Pick<WebhookStore, "stage"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  /**
   * Ids of the webhooks that subscribed to an event in its tenant, unless their owner is inactive. If the service keeps a record
   * of the tenant, it must also be active and the owner a member of it.
   */
  const subscribers = async (tenant: string, event: string): Promise<readonly string[]> => {
    const rows = await session.all(
      `SELECT w."id" FROM "opwright_webhook_events" e JOIN "opwright_webhooks" w ON w."id" = e."webhook_id" ` +
        `WHERE e."tenant_id" = ${at(1)} AND e."event" = ${at(2)} ` +
        `AND NOT EXISTS (SELECT 1 FROM "opwright_principals" p WHERE p."id" = w."principal_id" AND NOT p."is_active") ` +
        `AND NOT EXISTS (SELECT 1 FROM "opwright_tenants" t WHERE t."id" = w."tenant_id" AND (NOT t."is_active" ` +
        `OR NOT EXISTS (SELECT 1 FROM "opwright_memberships" m WHERE m."tenant_id" = t."id" AND m."principal_id" = w."principal_id")))`,
      [tenant, event],
    );
    return rows.map((row) => String(row["id"]));
  };

  return {
    async stage({ id, name, tenant, payload, createdAt }, to) {
      const webhooks = to === undefined ? await subscribers(tenant, name) : [to.id];
      if (webhooks.length === 0) return [];
      await session.run(
        `INSERT INTO "opwright_webhook_payloads" ("id", "name", "tenant_id", "payload", "created_at") ` +
          `VALUES (${[1, 2, 3, 4, 5].map(at).join(", ")})`,
        [id, name, tenant, payload, createdAt],
      );
      const rows = webhooks.map((webhook) => ({ id: uuidv7(), webhook_id: webhook }));
      await session.run(
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
