// The types that operations of webhooks answer with.
import { objectSchema, refTo, uuidSchema, type JsonSchema } from "../../model/json-schema.js";

const text: JsonSchema = { type: "string" };
const time: JsonSchema = { type: "string", format: "date-time" };
const timeOrNull: JsonSchema = { type: ["string", "null"], format: "date-time" };

const entry = {
  id: uuidSchema,
  url: text,
  events: { type: "array", items: text },
  created_at: time,
} satisfies Readonly<Record<string, JsonSchema>>;

const delivery = {
  id: uuidSchema,
  event: text,
  event_id: {
    ...uuidSchema,
    description: "`webhook-id` of the message: the same at each attempt.",
  },
  state: { type: "string", enum: ["pending", "delivered", "failed"] },
  attempts: { type: "integer", minimum: 0 },
  status: { type: ["integer", "null"], description: "What the last attempt was answered with." },
  error: { type: ["string", "null"] },
  created_at: time,
  next_attempt_at: timeOrNull,
  delivered_at: timeOrNull,
} satisfies Readonly<Record<string, JsonSchema>>;

/** A closed object whose members are all required. */
const whole = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  objectSchema(members, Object.keys(members));

/** The types by the names that they have in the registry. */
export const webhookTypes: Readonly<Record<string, JsonSchema>> = {
  Webhook: whole(entry),
  WebhookCreated: whole({
    ...entry,
    secret: {
      ...text,
      description: "Signs what is sent (Standard Webhooks); it is never shown again.",
    },
  }),
  WebhookList: whole({ webhooks: { type: "array", items: refTo("Webhook") } }),
  WebhookDelivery: whole(delivery),
  WebhookDeliveryPage: whole({
    deliveries: { type: "array", items: refTo("WebhookDelivery") },
    has_more: { type: "boolean" },
  }),
};
