// The tables of webhooks: subscriptions, the same by event, payloads, and deliveries.
import { addColumn, index, present, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

/** The steps that make and later change these tables, in order. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_webhooks: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"url" ${type.text} NOT NULL`,
        `"events" ${type.text} NOT NULL`,
        `"secret" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
      ],
    },
    "opwright_webhooks.owner": [
      index("opwright_webhooks_by_owner", "opwright_webhooks", `"tenant_id", "principal_id", "id"`),
    ],
    opwright_webhook_events: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"event" ${type.text} NOT NULL`,
        `"webhook_id" ${type.uuid} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "event", "webhook_id")`,
      ],
      indexes: ["webhook_id"],
    },
    opwright_webhook_payloads: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"name" ${type.text} NOT NULL`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"payload" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
      ],
      indexes: ["created_at"],
    },
    "opwright_webhook_payloads.shape": [
      addColumn("opwright_webhook_payloads", `"shape" ${type.text}`),
    ],
    "opwright_webhook_payloads.trace": [
      addColumn("opwright_webhook_payloads", `"traceparent" ${type.text}`),
    ],
    opwright_webhook_deliveries: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"webhook_id" ${type.uuid} NOT NULL`,
        `"event_id" ${type.uuid} NOT NULL`,
        `"event" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `"due_at" ${type.number}`,
        `"attempts" INTEGER NOT NULL`,
        `"delivered_at" ${type.number}`,
        `"status" INTEGER`,
        `"error" ${type.text}`,
      ],
      indexes: ["created_at"],
    },
    "opwright_webhook_deliveries.due": [
      index(
        "opwright_webhook_deliveries_by_due",
        "opwright_webhook_deliveries",
        `"due_at", "id"`,
        present("due_at"),
      ),
      index(
        "opwright_webhook_deliveries_by_webhook",
        "opwright_webhook_deliveries",
        `"webhook_id", "id"`,
      ),
    ],
    "opwright_webhook_deliveries.turns": [
      index(
        "opwright_webhook_deliveries_by_turn",
        "opwright_webhook_deliveries",
        `"webhook_id", "due_at", "id"`,
        present("due_at"),
      ),
    ],
  };
};
